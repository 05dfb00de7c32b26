//! Converts integers to text without the formatting machinery: every response contains about a dozen of them.

pub fn push(text: &mut String, number: u64) {
    text.push_str(itoa::Buffer::new().format(number));
}

/// Fills `space` with the last digits of a number, with leading zeros.
pub fn write_padded(number: u32, space: &mut [u8]) {
    let mut rest = number;
    for digit in space.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
}

/// Appends microseconds as milliseconds: `1.050`.
pub fn push_millis(text: &mut String, micros: u64) {
    push(text, micros / 1000);
    let mut fraction = *b".000";
    write_padded((micros % 1000) as u32, &mut fraction[1..]);
    text.push_str(str::from_utf8(&fraction).unwrap_or_default());
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
