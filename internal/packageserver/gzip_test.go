package packageserver

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/test/must"
)

// TestChecksums compares the checksum of what is put together with that of the whole.
func TestChecksums(t *testing.T) {
	for _, sizes := range [][]int{{}, {0}, {1}, {5, 0, 7}, {70000, 3, 200000}} {
		var s stream
		var whole []byte
		s.out = append(s.out, gzipHead...)
		for i, size := range sizes {
			text := bytes.Repeat([]byte{byte('a' + i)}, size)
			whole = append(whole, text...)
			s.add(text)
			whole = append(whole, text...)
			s.addDeflated(deflate(text), crc32.ChecksumIEEE(text), len(text))
		}
		s.end()
		r := must.Value(gzip.NewReader(bytes.NewReader(s.out)))(t)
		r.Multistream(false) // browsers read only one
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, whole) {
			t.Errorf("%v: %d bytes instead of %d, %v", sizes, len(got), len(whole), err)
		}
	}
}

// described is a catalog of so many packages whose descriptions have a size.
func described(t testing.TB, packages, size int, random bool) *catalog.Index {
	t.Helper()
	var b strings.Builder
	for i := range packages {
		text := strings.Repeat("x", size)
		if random {
			noise := make([]byte, size/2)
			_, _ = rand.Read(noise) // never fails
			text = hex.EncodeToString(noise)
		}
		name := fmt.Sprintf("p%03d", i)
		fmt.Fprintf(&b, `{"schema":"olm.package","name":%[1]q,"defaultChannel":"stable","description":%[2]q}{"schema":"olm.channel","package":%[1]q,"name":"stable","entries":[{"name":"%[1]s.v1.0.0"}]}
			{"schema":"olm.bundle","package":%[1]q,"name":"%[1]s.v1.0.0","image":"quay.io/p@sha256:%064[3]d","properties":[{"type":"olm.package","value":{"packageName":%[1]q,"version":"1.0.0"}},
			{"type":"olm.csv.metadata","value":{"displayName":"P"}}]}`, name, text, 1)
	}
	c := must.Value(catalog.Load(t.Context(), fstest.MapFS{"catalog.json": {Data: []byte(b.String())}}, catalog.LoadOptions{}))(t)
	x := must.Value(catalog.NewIndex(c, fmt.Sprint("sha256:", packages, size, random)))(t)
	return x
}

// TestCompressedLists compares lists that come compressed with those that do not, for sizes at which the API machinery does different things.
func TestCompressedLists(t *testing.T) {
	for _, random := range []bool{false, true} {
		for _, sizes := range [][2]int{{0, 0}, {1, 10}, {1, 200_000}, {3, 60_000}, {5, 30_000}, {40, 5_000}, {300, 5_000}} {
			t.Run(fmt.Sprintf("%d packages of %d bytes, random %t", sizes[0], sizes[1], random), func(t *testing.T) {
				w := newWorld(t)
				w.offer(t, "olm/global")
				w.contents.Publish(catalog.Ref{Namespace: "olm", Name: "global"}, catalogstore.Entry{Index: described(t, sizes[0], sizes[1], random)})
				want := w.ask(t, "packagemanifests").Body.Bytes()
				answer := w.ask(t, "packagemanifests", "Accept-Encoding: br, gzip")
				got := answer.Body.Bytes()
				if compressed := len(want) > 128<<10; (answer.Header().Get("Content-Encoding") == "gzip") != compressed {
					t.Errorf("%d bytes come as %v", len(want), answer.Header())
				} else if compressed {
					r, err := gzip.NewReader(answer.Body)
					must.NoError(t, err)
					if got, err = io.ReadAll(r); err != nil {
						t.Fatal(err)
					}
				}
				if !bytes.Equal(got, want) || answer.Code != http.StatusOK {
					t.Errorf("%d: %d bytes, want %d", answer.Code, len(got), len(want))
				}
				if h := answer.Header().Values("Vary"); len(h) > 1 || answer.Header().Get("Content-Encoding") == "gzip" && (len(h) != 1 || h[0] != "Accept-Encoding") {
					t.Errorf("Vary is %q, want Accept-Encoding once where the list comes compressed", h)
				}
			})
		}
	}
	// Other forms are still left to the API machinery.
	w := newWorld(t)
	w.offer(t, "olm/global")
	w.contents.Publish(catalog.Ref{Namespace: "olm", Name: "global"}, catalogstore.Entry{Index: described(t, 400, 100, true)})
	answer := w.ask(t, "packagemanifests", "Accept-Encoding: gzip", "Accept: application/json;as=Table;v=v1;g=meta.k8s.io")
	r := must.Value(gzip.NewReader(answer.Body))(t)
	if text, err := io.ReadAll(r); err != nil || !bytes.Contains(text, []byte(`"kind":"Table"`)) {
		t.Errorf("table: %.100s, %v", text, err)
	}
}

// TestListThatCannotBeRead says so, in plain text.
func TestListThatCannotBeRead(t *testing.T) {
	w := newWorld(t)
	w.offer(t, "olm/global")
	w.contents.Publish(catalog.Ref{Namespace: "olm", Name: "global"}, catalogstore.Entry{Index: described(t, 100, 5000, true)})
	from := &w.storage.present.current.sources[0]
	from.index = nil
	for _, d := range from.docs {
		d.held.Store(nil)
	}
	answer := w.ask(t, "packagemanifests", "Accept-Encoding: gzip")
	if answer.Code != http.StatusInternalServerError || answer.Header().Get("Content-Encoding") != "" || !strings.Contains(answer.Body.String(), "read package p000") {
		t.Errorf("%d %v %.200s", answer.Code, answer.Header(), answer.Body)
	}
}
