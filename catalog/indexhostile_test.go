package catalog

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog/internal/compact"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"
	"fairlead.dev/fairlead/version"
)

// smallIndex are the bytes of an index file with one of everything.
func smallIndex(t testing.TB) []byte {
	t.Helper()
	var text bytes.Buffer
	must.NoError(t, WriteJSON(&text, inMemory(0)))
	text.WriteString(`{"schema":"custom","package":"a","name":"x","number":12345678901234567890}`)
	path := filepath.Join(t.TempDir(), "index")
	x := must.Value(Build(context.Background(), files(map[string]string{"a.json": text.String()}), "sha256:1", path, LoadOptions{}))(t)
	must.NoError(t, x.Close())
	data := must.Value(os.ReadFile(path))(t)
	return data
}

// opened opens the bytes of an index file and reads every object.
func opened(data []byte) error {
	x, err := readIndex(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	return x.Verify(context.Background())
}

func TestIndexFileTruncated(t *testing.T) {
	data := smallIndex(t)
	must.NoError(t, opened(data))
	for n := range 50 {
		if err := opened(data[:len(data)*n/50]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%d of %d bytes: error %v, want %v", len(data)*n/50, len(data), err, ErrCorrupt)
		}
	}
	if err := opened(append(bytes.Clone(data), 0)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a byte more: error %v, want %v", err, ErrCorrupt)
	}
}

// TestIndexFileBitFlips changes each bit of a file; none may go unnoticed.
func TestIndexFileBitFlips(t *testing.T) {
	data := smallIndex(t)
	for i := 0; i < len(data); i += sweep.Of(17, 1, 1) {
		for bit := range 8 {
			data[i] ^= 1 << bit
			err := opened(data)
			version := i >= len(magic) && i < len(magic)+4
			if version && !errors.Is(err, ErrStale) || !version && !errors.Is(err, ErrCorrupt) {
				t.Errorf("byte %d, bit %d: error %v", i, bit, err)
			}
			data[i] ^= 1 << bit
		}
	}
}

// TestIndexFileWrongSizes writes sizes that are not true into a header whose
// checksum is right.
func TestIndexFileWrongSizes(t *testing.T) {
	good := smallIndex(t)
	sizes := len(magic) + 4 + 8
	for at := sizes; at < headerSize-4; at += 12 {
		size := binary.LittleEndian.Uint64(good[at:])
		for _, wrong := range []uint64{0, size - 1, size + 1, uint64(len(good)), uint64(len(good)) + 1, 1 << 40, 1<<63 - 1, 1 << 63, 1<<64 - 1} {
			if wrong == size {
				continue
			}
			data := bytes.Clone(good)
			binary.LittleEndian.PutUint64(data[at:], wrong)
			binary.LittleEndian.PutUint32(data[headerSize-4:], crc32.Checksum(data[:headerSize-4], checksum))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := opened(data); !errors.Is(err, ErrCorrupt) {
				t.Errorf("section size %d instead of %d: error %v, want %v", wrong, size, err, ErrCorrupt)
			}
			runtime.ReadMemStats(&after)
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<20 {
				t.Errorf("section size %d: %d bytes were allocated", wrong, allocated)
			}
		}
	}
}

// lying makes an Index of one bundle, lets a function falsify it, and decodes
// what is written of it.
func lying(t *testing.T, falsify func(x *Index)) error {
	t.Helper()
	lines := &stored{offset: int64(headerSize), packed: 10, size: 20}
	b := &BundleInfo{Package: "p", Name: "b"}
	x := &Index{
		v1: onlyV1{names: []string{"p"}},
		packages: map[string]*PackageInfo{"p": {Name: "p", Channels: []*ChannelInfo{{
			Name: "c", Package: "p", Entries: []*EntryInfo{{Name: "b", Bundle: b}},
		}}}},
		payloads: map[bundleKey][]Payload{{"p", "b"}: {{Type: PropertyCSVMetadata, data: blob{object: lines, from: 5, size: 15}}}},
		objects:  []indexed{{Object{Schema: SchemaBundle}, lines}},
	}
	falsify(x)
	s := encodeIndex(x)
	d, err := compact.NewDecoder(s.TextSizes, string(s.Texts), s.ValueSizes, s.Values, s.Body)
	must.NoError(t, err)
	_, err = decodeIndex(d, bytes.NewReader(nil), int64(headerSize)+10)
	return err
}

func TestIndexFileThatLies(t *testing.T) {
	stored := func(x *Index) *stored { return x.objects[0].source.(*stored) }
	payload := func(x *Index) *Payload { return &x.payloads[bundleKey{"p", "b"}][0] }
	for name, test := range map[string]struct {
		falsify func(x *Index)
		want    string
	}{
		"nothing":                    {func(*Index) {}, ""},
		"a line in the header":       {func(x *Index) { stored(x).offset-- }, "is not where the lines are"},
		"a line in the sections":     {func(x *Index) { stored(x).offset++ }, "is not where the lines are"},
		"a line longer than all":     {func(x *Index) { stored(x).packed++ }, "is not where the lines are"},
		"a line at the end of time":  {func(x *Index) { stored(x).offset = 1<<63 - 1 }, "is not where the lines are"},
		"a line of negative size":    {func(x *Index) { stored(x).packed = -1 }, "is larger than"},
		"a giant line":               {func(x *Index) { stored(x).size = maxLine + 1 }, "is larger than"},
		"a payload after its line":   {func(x *Index) { payload(x).data.from = 21 }, "is larger than"},
		"a payload larger than that": {func(x *Index) { payload(x).data.size = 16 }, "is larger than"},
		"a channel without entries":  {func(x *Index) { x.packages["p"].Channels[0].Entries = nil }, "a channel has no entries"},
		"a release that is none": {func(x *Index) {
			x.packages["p"].Channels[0].Entries[0].Bundle.Version.Release = version.Release{{VersionStr: "_"}}
		}, "_"},
		"a package twice": {func(x *Index) { x.v1.names = append(x.v1.names, "p") }, "package \"p\" is there twice"},
		"a bundle twice": {func(x *Index) {
			c := x.packages["p"].Channels[0]
			c.Entries = append(c.Entries, &EntryInfo{Name: "b", Bundle: &BundleInfo{Package: "p", Name: "b"}})
		}, "bundle \"b\" of package \"p\" is there twice"},
	} {
		t.Run(name, func(t *testing.T) {
			err := lying(t, test.falsify)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

// TestLineThatUnpacksToMore reads lines whose sizes are not what the directory
// says.
func TestLineThatUnpacksToMore(t *testing.T) {
	text := []byte(strings.Repeat("x", 1<<20))
	packed := packTo(nil, text)
	for size, ok := range map[int]bool{len(text): true, len(text) - 1: false, len(text) + 1: false, 0: false, 1: false} {
		s := &stored{file: bytes.NewReader(packed), packed: len(packed), size: size, sum: crc32.Checksum(packed, checksum)}
		line, err := s.line(nil)
		if ok && (err != nil || !bytes.Equal(line, text)) || !ok && !errors.Is(err, ErrCorrupt) {
			t.Errorf("size %d: %d bytes, error %v", size, len(line), err)
		}
	}
	s := &stored{file: bytes.NewReader(packed), offset: 1, packed: len(packed), size: len(text)}
	if _, err := s.line(nil); err == nil {
		t.Error("a line was read past the end")
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(smallIndex(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		err := opened(data)
		if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrStale) {
			t.Errorf("error %v is neither %v nor %v", err, ErrCorrupt, ErrStale)
		}
	})
}

// FuzzDecodeIndex reads sections that no checksum guards. What can be read can
// be asked everything, and written and read again.
func FuzzDecodeIndex(f *testing.F) {
	data := smallIndex(f)
	var h header
	must.NoError(f, h.parse(data, int64(len(data))))
	var parts [sectionCount][]byte
	at := h.linesEnd()
	for i, s := range h.sections {
		parts[i] = data[at : at+s.size]
		at += s.size
	}
	f.Add(parts[0], string(parts[1]), parts[2], parts[3], parts[4])
	f.Fuzz(func(t *testing.T, textSizes []byte, texts string, valueSizes, values, body []byte) {
		decode := func() (*Index, error) {
			d, err := compact.NewDecoder(textSizes, texts, valueSizes, values, body)
			if err != nil {
				return nil, err
			}
			return decodeIndex(d, bytes.NewReader(data), h.linesEnd())
		}
		x, err := decode()
		if err != nil {
			return
		}
		ask(t, x)
		s := encodeIndex(x)
		textSizes, texts, valueSizes, values, body = s.TextSizes, string(s.Texts), s.ValueSizes, s.Values, s.Body
		again, err := decode()
		must.NoErrorf(t, err, "what was written cannot be read")
		ask(t, again)
		if a, b := encodeIndex(again), s; !bytes.Equal(a.Body, b.Body) || !bytes.Equal(a.Texts, b.Texts) || !bytes.Equal(a.Values, b.Values) {
			t.Error("what was written is read as something else")
		}
	})
}

// ask asks an Index everything; objects need not be readable.
func ask(t *testing.T, x *Index) {
	t.Helper()
	for _, name := range x.PackageNames() {
		p, ok := x.Package(name)
		if !ok {
			t.Errorf("no package %q", name)
			continue
		}
		for _, c := range p.Channels {
			for _, e := range c.Entries {
				_ = e.Bundle.Version.String()
				if _, err := x.Manifests(e.Bundle); err != nil && err.Error() == "" {
					t.Error("an error without words")
				}
				if _, err := x.CSVMetadata(e.Bundle); err != nil && err.Error() == "" {
					t.Error("an error without words")
				}
				for _, gvk := range e.Bundle.Provides {
					if len(x.Providers(gvk)) == 0 {
						t.Errorf("nobody provides %s", gvk)
					}
				}
			}
		}
	}
	content, size := x.Content()
	if n, err := content.Read(make([]byte, 100)); err == nil && int64(n) > size {
		t.Errorf("%d bytes were read of %d", n, size)
	}
}
