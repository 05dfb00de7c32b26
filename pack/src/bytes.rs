//! Integers and texts in the bytes of an index, little-endian, every read checked against the end.

#[derive(Default)]
pub(crate) struct ByteWriter {
    out: Vec<u8>,
}

impl ByteWriter {
    pub(crate) fn u8(&mut self, value: u8) {
        self.out.push(value);
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.out.extend(value.to_le_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.out.extend(value.to_le_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.out.extend(bytes);
    }

    /// A text of at most 65,535 bytes, which every path of a snapshot is.
    pub(crate) fn text(&mut self, text: &str) {
        let length = u16::try_from(text.len()).expect("file systems have no longer paths");
        self.out.extend(length.to_le_bytes());
        self.out.extend(text.as_bytes());
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.out
    }
}

pub(crate) struct ByteReader<'b> {
    rest: &'b [u8],
}

impl<'b> ByteReader<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn remaining(&self) -> usize {
        self.rest.len()
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'b [u8], String> {
        let Some((taken, rest)) = self.rest.split_at_checked(length) else {
            return Err(format!("it ends {} bytes too early", length - self.rest.len()));
        };
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        Ok(self.take(N)?.try_into().expect("it has this length"))
    }

    pub(crate) fn u8(&mut self) -> Result<u8, String> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u32(&mut self) -> Result<u32, String> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, String> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(crate) fn hash(&mut self) -> Result<[u8; 32], String> {
        self.array()
    }

    pub(crate) fn text(&mut self) -> Result<String, String> {
        let length = u16::from_le_bytes(self.array()?);
        let bytes = self.take(usize::from(length))?;
        String::from_utf8(bytes.to_vec()).map_err(|_| "a path is not UTF-8".to_owned())
    }

    /// Memory for a number of entries, if the rest can hold as many of at least this size.
    pub(crate) fn reserve<T>(&self, count: u32, entry_bytes_min: usize) -> Result<Vec<T>, String> {
        if count as usize > self.remaining() / entry_bytes_min {
            return Err(format!("it states {count} entries, but {} bytes follow", self.remaining()));
        }
        Ok(Vec::with_capacity(count as usize))
    }
}
