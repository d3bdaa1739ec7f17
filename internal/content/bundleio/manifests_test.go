package bundleio

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
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
		"a Secret is kept out of the plan":     {`{"kind":"Secret","data":{"password":"aHVudGVyMg=="}}`, true},
		"one that tells of Secrets stays":      {`{"kind":"Role","rules":[{"resources":["Secret"]}]}`, false},
		"at the limit stays":                   {`{"a":"` + strings.Repeat("x", InlineLimit-8) + `"}`, false},
		"over the limit becomes a reference":   {`{"a":"` + strings.Repeat("x", InlineLimit) + `"}`, true},
		"a small object of a like-named kind":  {`{"kind":"ContentReference"}`, false},
		"a large object is no reference by it": {`{"kind":"ContentReference","digest":"d","a":"` + strings.Repeat("x", InlineLimit) + `"}`, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := Manifests{Blobs: memory{}}
			text := must.Value(m.Refer(t.Context(), []byte(test.manifest)))(t)
			if _, is := ParseReference(text); is != test.reference {
				t.Errorf("Refer gave %.60q: reference %t, want %t", text, is, test.reference)
			}
			if len(text) > InlineLimit {
				t.Errorf("Refer gave %d bytes, more than the limit of %d", len(text), InlineLimit)
			}
			back, err := m.Resolve(t.Context(), text)
			must.NoErrorf(t, err, "Resolve gave want the manifest")
			must.Equal(t, "Resolve gave want the manifest", string(back), test.manifest)
		})
	}
}

func TestALostManifestIsSaidToBeMissing(t *testing.T) {
	blobs := memory{}
	m := Manifests{Blobs: blobs}
	text := must.Value(m.Refer(t.Context(), []byte(`{"a":"`+strings.Repeat("x", InlineLimit)+`"}`)))(t)
	clear(blobs)
	if _, err := m.Resolve(t.Context(), text); !errors.Is(err, ErrMissing) {
		t.Errorf("Resolve of a lost manifest: %v, want ErrMissing", err)
	}
	if _, err := (Manifests{Blobs: memory(nil)}).Resolve(t.Context(), text); err == nil || errors.Is(err, ErrMissing) {
		t.Errorf("a store that cannot be read has not lost the manifest: %v", err)
	}
}

func TestReferencesOfAnotherImplementation(t *testing.T) {
	const whole = `{"kind":"ConfigMap","name":"4f53","namespace":"olm","catalogSourceName":"c","catalogSourceNamespace":"olm","replaces":"op.v1","properties":"{\"properties\":[]}"}`
	tests := map[string]struct {
		text string
		is   bool
	}{
		"one":                   {whole, true},
		"one with much in it":   {strings.Replace(whole, "[]", strings.Repeat(" ", 4*InlineLimit), 1), true},
		"a ConfigMap":           {`{"apiVersion":"v1","kind":"ConfigMap","name":"odd","catalogSourceName":"c","metadata":{"name":"c"}}`, false},
		"a ConfigMap about one": {`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"k":"{\"catalogSourceName\":\"c\"}"}}`, false},
		"of another kind":       {strings.Replace(whole, "ConfigMap", "Secret", 1), false},
		"no JSON":               {whole[1:], false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ref, is := ParseForeign(test.text)
			if is != test.is || is && (ref.Replaces != "op.v1" || ref.CatalogSourceNamespace != "olm") {
				t.Errorf("%t, %+v", is, ref)
			}
			if _, err := (Manifests{Blobs: memory{}}).Resolve(t.Context(), test.text); errors.Is(err, ErrMissing) != test.is {
				t.Errorf("Resolve: %v", err)
			}
		})
	}
}
