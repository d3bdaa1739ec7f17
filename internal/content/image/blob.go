package image

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/opencontainers/go-digest"
)

// blob streams content of known size and digest. Reading it to its end without
// an error proves both.
type blob struct {
	r io.Reader
	io.Closer
	want     descriptor
	verifier digest.Verifier
	n        int64
	err      error // the first error other than io.EOF
}

func newBlob(r io.Reader, closer io.Closer, want descriptor) *blob {
	return &blob{r: r, Closer: closer, want: want, verifier: want.Digest.Verifier()}
}

// Read implements io.Reader.
func (b *blob) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.r.Read(p)
	b.n += int64(n)
	_, _ = b.verifier.Write(p[:n]) // a hash never fails
	switch {
	case b.n > b.want.Size:
		b.err = problem(DigestMismatch, "the registry sent more than the %d bytes of %s", b.want.Size, b.want.Digest)
	case err == nil:
	case !errors.Is(err, io.EOF):
		b.err = err
	case b.n < b.want.Size:
		b.err = problem(DigestMismatch, "the registry sent less than the %d bytes of %s", b.want.Size, b.want.Digest)
	case !b.verifier.Verified():
		b.err = problem(DigestMismatch, "the registry sent other content than %s", b.want.Digest)
	default:
		return n, io.EOF
	}
	return n, b.err
}

// maxWindow bounds the memory that a zstd layer can ask for.
const maxWindow = 32 * mib

// decompress returns the content of a layer. The compression is found by
// looking: the media types of real images are not always true.
func decompress(r io.Reader) (io.ReadCloser, error) {
	buffered := bufio.NewReaderSize(r, 64<<10)
	magic, err := buffered.Peek(6)
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		return gzip.NewReader(buffered)
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}), len(magic) >= 4 && magic[0]&0xf0 == 0x50 && bytes.Equal(magic[1:4], []byte{0x2a, 0x4d, 0x18}):
		decoder, err := zstd.NewReader(buffered,
			zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return decoder.IOReadCloser(), nil
	case bytes.HasPrefix(magic, []byte("BZh")), bytes.HasPrefix(magic, []byte{0xfd, '7', 'z', 'X', 'Z', 0}):
		return nil, problem(InvalidImage, "a layer is compressed with bzip2 or xz; only gzip and zstd are supported")
	}
	return io.NopCloser(buffered), nil
}
