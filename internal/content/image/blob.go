package image

import (
	"errors"
	"io"

	"github.com/opencontainers/go-digest"
)

// blob streams content of known size and digest. Reading it to its end without
// an error proves both.
type blob struct {
	r        io.Reader
	closer   io.Closer
	want     descriptor
	verifier digest.Verifier
	n        int64
	err      error // the first error other than io.EOF
}

func newBlob(r io.Reader, closer io.Closer, want descriptor) *blob {
	return &blob{r: r, closer: closer, want: want, verifier: want.Digest.Verifier()}
}

func (b *blob) close() { _ = b.closer.Close() }

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
	case errors.Is(err, io.EOF):
		return n, b.atEnd()
	case err != nil:
		b.err = err
	}
	return n, b.err
}

func (b *blob) atEnd() error {
	switch {
	case b.n < b.want.Size:
		b.err = problem(DigestMismatch, "the registry sent less than the %d bytes of %s", b.want.Size, b.want.Digest)
	case !b.verifier.Verified():
		b.err = problem(DigestMismatch, "the registry sent other content than %s", b.want.Digest)
	default:
		return io.EOF
	}
	return b.err
}
