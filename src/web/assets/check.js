// Takes a document that is dropped anywhere on the form.
"use strict";
const form = document.querySelector("form.document");
const input = form && form.querySelector("input[type=file]");
if (input) {
  form.addEventListener("dragover", (event) => {
    event.preventDefault();
    form.classList.add("over");
  });
  form.addEventListener("dragleave", () => form.classList.remove("over"));
  form.addEventListener("drop", (event) => {
    form.classList.remove("over");
    if (event.dataTransfer.files.length > 0) {
      event.preventDefault();
      input.files = event.dataTransfer.files;
    }
  });
}
