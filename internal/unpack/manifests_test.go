package unpack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"strings"
	"testing"
)

type memory map[string][]byte

func (m memory) Put(_ context.Context, data []byte) (string, error) {
	sum := sha256.Sum256(data)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	m[digest] = data
	return digest, nil
}

func (m memory) Get(_ context.Context, digest string) ([]byte, error) {
	if data, ok := m[digest]; ok {
		return data, nil
	}
	if m == nil {
		return nil, errors.New("the disk is broken")
	}
	return nil, fs.ErrNotExist
}

func TestManifestsComeBackAsTheyWere(t *testing.T) {
	tests := map[string]struct {
		manifest  string
		reference bool
	}{
		"small stays in the plan":              {`{"kind":"Service"}`, false},
		"at the limit stays":                   {`{"a":"` + strings.Repeat("x", InlineLimit-8) + `"}`, false},
		"over the limit becomes a reference":   {`{"a":"` + strings.Repeat("x", InlineLimit) + `"}`, true},
		"a small object of a like-named kind":  {`{"kind":"ContentReference"}`, false},
		"a large object is no reference by it": {`{"kind":"ContentReference","digest":"d","a":"` + strings.Repeat("x", InlineLimit) + `"}`, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := Manifests{Blobs: memory{}}
			text, err := m.Refer(t.Context(), []byte(test.manifest))
			if err != nil {
				t.Fatal(err)
			}
			if _, is := ParseReference(text); is != test.reference {
				t.Errorf("Refer gave %.60q: reference %t, want %t", text, is, test.reference)
			}
			if len(text) > InlineLimit {
				t.Errorf("Refer gave %d bytes, more than the limit of %d", len(text), InlineLimit)
			}
			back, err := m.Resolve(t.Context(), text)
			if err != nil || string(back) != test.manifest {
				t.Errorf("Resolve gave %.60q, %v; want the manifest", back, err)
			}
		})
	}
}

func TestALostManifestIsSaidToBeMissing(t *testing.T) {
	blobs := memory{}
	m := Manifests{Blobs: blobs}
	text, err := m.Refer(t.Context(), []byte(`{"a":"`+strings.Repeat("x", InlineLimit)+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	clear(blobs)
	if _, err := m.Resolve(t.Context(), text); !errors.Is(err, ErrMissing) {
		t.Errorf("Resolve of a lost manifest: %v, want ErrMissing", err)
	}
	if _, err := (Manifests{Blobs: memory(nil)}).Resolve(t.Context(), text); err == nil || errors.Is(err, ErrMissing) {
		t.Errorf("a store that cannot be read has not lost the manifest: %v", err)
	}
}
