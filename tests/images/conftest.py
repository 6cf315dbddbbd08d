"""Small sources in the layouts that users have, made anew for every test."""

import io
import pickle
import tarfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

CLASSES = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
BATCHES = {"train": [f"data_batch_{i}" for i in range(1, 6)], "test": ["test_batch"]}


def png(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(array).save(buffer, "PNG")
    return buffer.getvalue()


def python_batch(pixels: np.ndarray, labels: np.ndarray, name: str) -> bytes:
    """A pickle as the official files have it: [n, 3072] values, lists of labels and names, keys of bytes."""
    record = {
        b"batch_label": name.encode(),
        b"labels": [int(label) for label in labels],
        b"data": pixels.reshape(-1, 3072),
        b"filenames": [f"{name}_{i}.png".encode() for i in range(len(labels))],
    }
    return pickle.dumps(record, protocol=2)


def binary_batch(pixels: np.ndarray, labels: np.ndarray) -> bytes:
    return np.concatenate([labels[:, None].astype(np.uint8), pixels.reshape(-1, 3072)], axis=1).tobytes()


class Official:
    """Both official layouts of the same small data: seven images a batch."""

    def __init__(self, root: Path) -> None:
        rng = np.random.default_rng(1)
        self.root = root
        self.pixels = {}
        self.labels = {}
        self.python = root / "py" / "cifar-10-batches-py"
        self.binary = root / "bin" / "cifar-10-batches-bin"
        self.python.mkdir(parents=True)
        self.binary.mkdir(parents=True)
        for split, names in BATCHES.items():
            self.pixels[split] = rng.integers(0, 256, (7 * len(names), 3, 32, 32), dtype=np.uint8)
            self.labels[split] = rng.integers(0, 10, 7 * len(names))
            for i, name in enumerate(names):
                part = slice(7 * i, 7 * i + 7)
                images, labels = self.pixels[split][part], self.labels[split][part]
                (self.python / name).write_bytes(python_batch(images, labels, name))
                (self.binary / f"{name}.bin").write_bytes(binary_batch(images, labels))
        (self.binary / "batches.meta.txt").write_text("\n".join(CLASSES) + "\n\n")
        meta = {b"num_cases_per_batch": 7, b"label_names": [name.encode() for name in CLASSES], b"num_vis": 3072}
        (self.python / "batches.meta").write_bytes(pickle.dumps(meta, protocol=2))

    def archive(self, layout: str) -> Path:
        path = self.root / f"cifar-10-{layout}.tar.gz"
        folder = self.python if layout == "python" else self.binary
        with tarfile.open(path, "w:gz") as tar:
            tar.add(folder, arcname=folder.name)
        return path

    def plain_archive(self) -> Path:
        path = self.root / "a.tar"
        with tarfile.open(path, "w") as tar:
            tar.add(self.binary, arcname=self.binary.name)
        return path

    def npz(self) -> Path:
        path = self.root / "a.npz"
        np.savez_compressed(path, images=self.pixels["test"].transpose(0, 2, 3, 1), labels=self.labels["test"])
        return path


@pytest.fixture
def official(tmp_path: Path) -> Official:
    return Official(tmp_path)


@pytest.fixture
def class_folders(tmp_path: Path) -> Path:
    """Test and train with nine classes, `cat` missing, three images each, whose red value tells them apart."""
    root = tmp_path / "folders"
    for split in ("test", "train"):
        for label, name in enumerate(CLASSES):
            if name == "cat":
                continue
            (root / split / name).mkdir(parents=True)
            for i in range(3):
                array = np.zeros((32, 32, 3), np.uint8)
                array[..., 0] = 10 * label + i
                array[..., 1] = 255 if split == "train" else 0
                (root / split / name / f"{i:04}.png").write_bytes(png(array))
    return root
