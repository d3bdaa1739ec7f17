package migrate

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
)

// pack compresses a text.
func pack(t *testing.T, text string) []byte { return packed(t, strings.NewReader(text)) }

// bomb compresses a number of zeros.
func bomb(t *testing.T, size int64) []byte { return packed(t, io.LimitReader(zeros{}, size)) }

func packed(t *testing.T, r io.Reader) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.Copy(w, r); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
