//! Integers to text without the formatting machinery: every response contains a dozen of them.

/// As many as the largest number has.
const DIGITS_MAX: usize = 20;

pub(crate) fn push(text: &mut String, number: u64) {
    let mut digits = [b'0'; DIGITS_MAX];
    let mut first = DIGITS_MAX;
    let mut rest = number;
    loop {
        first -= 1;
        digits[first] += (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    text.extend(digits[first..].iter().map(|digit| char::from(*digit)));
}

/// Microseconds as milliseconds: `1.050`.
pub(crate) fn push_millis(text: &mut String, micros: u64) {
    push(text, micros / 1000);
    text.push('.');
    for digit in [micros / 100, micros / 10, micros] {
        text.push(char::from(b'0' + (digit % 10) as u8));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_formatting_writes_them() {
        for number in [0, 7, 10, 99, 100, 1_050, 12_345_678, u64::MAX] {
            let (mut plain, mut millis) = (String::new(), String::new());
            push(&mut plain, number);
            push_millis(&mut millis, number);
            assert_eq!(plain, number.to_string());
            assert_eq!(millis, format!("{}.{:03}", number / 1000, number % 1000));
        }
    }
}
