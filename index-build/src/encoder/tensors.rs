//! A safetensors file: its bytes, and its tensors by name, each checked for type and shape.

use std::path::{Path, PathBuf};

use hornbook_base::regular_file;

use crate::encoder_error::EncoderError;
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};

/// Files are kept in memory as a whole. Encoders that embed a whole code in reasonable time are far smaller.
pub(super) const TENSORS_BYTES_MAX: u64 = 16 << 30;

#[derive(Debug)]
pub(super) struct TensorFile {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
}

impl TensorFile {
    pub(super) fn read(path: PathBuf) -> Result<Self, EncoderError> {
        match regular_file::read(&path, TENSORS_BYTES_MAX) {
            Ok(bytes) => Ok(Self { path, bytes }),
            Err(source) => Err(EncoderError::Read { path, source }),
        }
    }

    pub(super) fn open(&self) -> Result<OpenTensors<'_>, EncoderError> {
        let tensors = SafeTensors::deserialize(&self.bytes).map_err(|error| {
            self.unfit(format!("it is not a complete safetensors file ({error}); download it again"))
        })?;
        Ok(OpenTensors { path: &self.path, tensors })
    }

    pub(super) fn unfit(&self, what: String) -> EncoderError {
        EncoderError::InvalidFile { path: self.path.clone(), line: None, what }
    }
}

pub(super) struct OpenTensors<'f> {
    path: &'f Path,
    tensors: SafeTensors<'f>,
}

impl<'f> OpenTensors<'f> {
    pub(super) fn has(&self, name: &str) -> bool {
        self.tensors.tensor(name).is_ok()
    }

    /// The bytes of a tensor with this type and shape.
    fn bytes(&self, name: &str, kind: Dtype, shape: &[usize]) -> Result<&'f [u8], EncoderError> {
        let view = self.view(name)?;
        match (view.dtype(), view.shape()) == (kind, shape) {
            true => Ok(view.data()),
            false => Err(self.unfit(format!(
                "its tensor '{name}' is {:?}{:?}, expected {kind:?}{shape:?}",
                view.dtype(),
                view.shape()
            ))),
        }
    }

    pub(super) fn f32s(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, EncoderError> {
        let values = self.bytes(name, Dtype::F32, shape)?.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        let values: Vec<f32> = values.collect();
        match values.iter().all(|value| value.is_finite()) {
            true => Ok(values),
            false => Err(self.unfit(format!("its tensor '{name}' has values that are not finite numbers"))),
        }
    }

    pub(super) fn i8s(&self, name: &str, shape: &[usize]) -> Result<Vec<i8>, EncoderError> {
        Ok(self.bytes(name, Dtype::I8, shape)?.iter().map(|byte| byte.cast_signed()).collect())
    }

    pub(super) fn shape(&self, name: &str) -> Result<Vec<usize>, EncoderError> {
        Ok(self.view(name)?.shape().to_vec())
    }

    fn view(&self, name: &str) -> Result<TensorView<'f>, EncoderError> {
        self.tensors.tensor(name).map_err(|_| self.unfit(format!("it has no tensor '{name}'")))
    }

    pub(super) fn unfit(&self, what: String) -> EncoderError {
        EncoderError::InvalidFile { path: self.path.to_owned(), line: None, what }
    }
}
