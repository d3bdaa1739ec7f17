package image

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("0123456789", 1000)
	many := func(n int) (entries []entry) {
		for i := range n {
			entries = append(entries, file(fmt.Sprintf("%d", i), ""))
		}
		return entries
	}
	tests := map[string]struct {
		limits  Limits
		layers  [][]entry
		limit   string
		allowed Limits // under which the same layers pass
	}{
		"compressed":       {Limits{CompressedBytes: 100}, [][]entry{{file("a", big)}}, "CompressedBytes = 100", Limits{CompressedBytes: 1000}},
		"expanded":         {Limits{ExpandedBytes: 5000}, [][]entry{{file("a", big)}}, "ExpandedBytes = 5000", Limits{ExpandedBytes: 50000}},
		"expanded, in sum": {Limits{ExpandedBytes: 15000}, [][]entry{{file("a", big)}, {file("b", big)}}, "ExpandedBytes = 15000", Limits{ExpandedBytes: 50000}},
		"kept":             {Limits{KeptBytes: 15000}, [][]entry{{file("a", big), file("b", big)}}, "KeptBytes = 15000", Limits{KeptBytes: 20000}},
		"kept, replaced":   {Limits{KeptBytes: 15000}, [][]entry{{file("a", big)}, {file("a", big)}}, "KeptBytes = 15000", Limits{KeptBytes: 20000}},
		"kept, hard links": {Limits{KeptBytes: 15000}, [][]entry{{file("a", big), hardlink("b", "a")}}, "KeptBytes = 15000", Limits{KeptBytes: 20000}},
		"kept, symlinks":   {Limits{KeptBytes: 15000}, [][]entry{{file("a", big), symlink("b", "a")}}, "KeptBytes = 15000", Limits{KeptBytes: 20000}},
		"one file":         {Limits{FileBytes: 9999}, [][]entry{{file("a", big)}}, "FileBytes = 9999", Limits{FileBytes: 10000}},
		"entries":          {Limits{Entries: 10}, [][]entry{many(6), many(6)}, "Entries = 10", Limits{Entries: 12}},
		"files":            {Limits{Files: 5}, [][]entry{many(6)}, "Files = 5", Limits{Files: 6}},
		"directories":      {Limits{Files: 5}, [][]entry{{file("a/b/c/d/e/f", "")}}, "Files = 5", Limits{Files: 6}},
		"path":             {Limits{PathLength: 20}, [][]entry{{file(strings.Repeat("p", 21), "")}}, "PathLength = 20", Limits{PathLength: 21}},
		"names":            {Limits{NameBytes: 5}, [][]entry{{file("unwanted", "")}}, "NameBytes = 5", Limits{NameBytes: 8}},
		"link target":      {Limits{PathLength: 20}, [][]entry{{symlink("a", strings.Repeat("p", 21))}}, "PathLength = 20", Limits{PathLength: 21}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var layers [][]byte
			for _, l := range tt.layers {
				layers = append(layers, gzipOf(t, tarOf(t, l...)))
			}
			wanted := func(p string) bool { return p != "unwanted" }
			_, err := extract(t, wanted, tt.limits, layers...)
			if KindOf(err) != LimitExceeded || !strings.Contains(err.Error(), "the limit "+tt.limit) || !strings.Contains(complete(err, "pull", "x").Error(), "raise the limit") {
				t.Errorf("error %v, want the limit %s", err, tt.limit)
			}
			if _, err := extract(t, wanted, tt.allowed, layers...); err != nil {
				t.Errorf("under %+v: %v", tt.allowed, err)
			}
		})
	}
}

func TestRefusedLayers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		layer  []byte
		reason string
	}{
		"a name that climbs":            {tarOf(t, file("../x", "1")), "leads out of the image"},
		"a name that climbs further in": {tarOf(t, file("a/../../x", "1")), "leads out of the image"},
		"a directory that climbs":       {tarOf(t, dir("a/../")), "leads out of the image"},
		"a whiteout that climbs":        {tarOf(t, whiteout("../.wh.x")), "leads out of the image"},
		"a hard link that climbs":       {tarOf(t, hardlink("a", "../../etc/passwd")), "leads out of the image"},
		"an absolute name":              {tarOf(t, file("/etc/passwd", "1")), "absolute name"},
		"an absolute link":              {tarOf(t, symlink("/a", "b")), "absolute name"},
		"bzip2":                         {[]byte("BZh91AY&SY"), "only gzip and zstd"},
		"xz":                            {[]byte("\xfd7zXZ\x00rest"), "only gzip and zstd"},
		"no archive":                    {bytes.Repeat([]byte("nonsense"), 200), "cannot be read"},
		"half an archive":               {tarOf(t, file("a", "123"))[:513], "cannot be read"},
		"gzip of half an archive":       {gzipOf(t, tarOf(t, file("a", strings.Repeat("x", 2000)))[:1200]), "cannot be read"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := extract(t, nil, Limits{}, tt.layer)
			if KindOf(err) != InvalidImage || !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("error %v, want %s with %q", err, InvalidImage, tt.reason)
			}
		})
	}
	t.Run("an absolute name that nobody wants", func(t *testing.T) {
		layer := tarOf(t, file("/bin/opm", "1"), file("configs/a", "2"))
		p, err := extract(t, func(p string) bool { return p == "configs/a" }, Limits{}, layer)
		if err != nil || len(p.index.Files) != 1 {
			t.Errorf("extract: %v", err)
		}
	})
}

// TestHostileLayersStayWithinMemory is not parallel: it measures the heap.
func TestHostileLayersStayWithinMemory(t *testing.T) {
	if must.Race {
		t.Skip("the race detector changes what is measured")
	}
	anyRatio := Limits{Ratio: math.MaxInt}
	tests := map[string]struct {
		layer  func(t *testing.T, w io.Writer)
		wanted func(string) bool
		limits Limits
		kind   Kind
		limit  string
	}{
		"gzip, 1000 to 1":         {zeroesIn(gzipWriter), nil, Limits{}, LimitExceeded, "FileBytes"},
		"gzip, 1000 to 1, unread": {zeroesIn(gzipWriter), nobody, Limits{}, LimitExceeded, "Ratio"},
		"gzip, read to the end":   {zeroesIn(gzipWriter), nobody, anyRatio, "", ""},
		"zstd, 10000 to 1":        {zeroesIn(zstdWriter), nobody, Limits{}, LimitExceeded, "Ratio"},
		"zstd, giant window":      {giantWindow, nil, Limits{}, InvalidImage, "window"},
		"300,000 entries":         {manyEntries, nobody, anyRatio, LimitExceeded, "Entries"},
		"wanted entries":          {entriesOf(30_000, "f"), nil, Limits{}, LimitExceeded, "Files"},
		"long names":              {entriesOf(70_000, strings.Repeat("n", 1000)), nobody, anyRatio, LimitExceeded, "NameBytes"},
		"deep names":              {deepNames, nil, anyRatio, LimitExceeded, "Files"},
		"whiteouts":               {whiteouts, nil, anyRatio, "", ""},
		"a sparse file":           {sparse, nil, Limits{}, LimitExceeded, "FileBytes"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sent := &sentLayer{}
			tt.layer(t, sent)
			runtime.GC()
			start := time.Now()
			var err error
			peak := peakHeap(func() { _, err = extract(t, tt.wanted, tt.limits, sent.data) })
			t.Logf("%d KiB sent, %d KiB of heap more, %s", len(sent.data)>>10, peak>>10, time.Since(start).Round(time.Millisecond))
			if KindOf(err) != tt.kind || tt.kind != "" && !strings.Contains(err.Error(), tt.limit) {
				t.Errorf("error %v, want %s by %s", err, tt.kind, tt.limit)
			}
			if peak > 64*mib {
				t.Errorf("took %d MiB of heap, want at most 64", peak>>20)
			}
		})
	}
}

func nobody(string) bool { return false }

// peakHeap returns by how much the heap grows while f runs.
func peakHeap(f func()) uint64 {
	sample := func() uint64 {
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	before := sample()
	peak := before
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				peak = max(peak, sample())
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return peak - before
}

// sentLayer is an io.Writer that holds a layer as it is sent.
type sentLayer struct{ data []byte }

func (s *sentLayer) Write(p []byte) (int, error) {
	s.data = append(s.data, p...)
	return len(p), nil
}

func gzipWriter(w io.Writer) io.WriteCloser {
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		panic(err)
	}
	return z
}

func zstdWriter(w io.Writer) io.WriteCloser {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	return z
}

// compressed writes an archive through a compressor.
func compressed(t *testing.T, to io.Writer, compress func(io.Writer) io.WriteCloser, write func(w *tar.Writer)) {
	t.Helper()
	z := compress(to)
	w := tar.NewWriter(z)
	write(w)
	must.NoError(t, w.Close())
	must.NoError(t, z.Close())
}

// zeroesIn writes a layer with one file of 320 MiB of zeroes.
func zeroesIn(compress func(io.Writer) io.WriteCloser) func(*testing.T, io.Writer) {
	return func(t *testing.T, to io.Writer) {
		compressed(t, to, compress, func(w *tar.Writer) {
			must.NoError(t, w.WriteHeader(&tar.Header{Name: "zeroes", Size: 320 * mib}))
			chunk := make([]byte, mib)
			for range 320 {
				must.Value(w.Write(chunk))(t)
			}
		})
	}
}

// entriesOf writes a layer with n empty files.
func entriesOf(n int, prefix string) func(*testing.T, io.Writer) {
	return func(t *testing.T, to io.Writer) {
		compressed(t, to, gzipWriter, func(w *tar.Writer) {
			for i := range n {
				must.NoError(t, w.WriteHeader(&tar.Header{Name: prefix + strconv.Itoa(i)}))
			}
		})
	}
}

// deepNames writes a layer with few files in very many directories.
func deepNames(t *testing.T, to io.Writer) {
	compressed(t, to, gzipWriter, func(w *tar.Writer) {
		for i := range 100 {
			must.NoError(t, w.WriteHeader(&tar.Header{Name: strconv.Itoa(i) + strings.Repeat("/d", 500)}))
		}
	})
}

// manyEntries writes a layer that repeats one entry.
func manyEntries(t *testing.T, to io.Writer) {
	header := tarOf(t, file("f", ""))[:512]
	z := gzipWriter(to)
	for range 300_000 {
		must.Value(z.Write(header))(t)
	}
	must.NoError(t, z.Close())
}

// whiteouts writes a layer that hides one full directory over and over.
func whiteouts(t *testing.T, to io.Writer) {
	compressed(t, to, gzipWriter, func(w *tar.Writer) {
		for i := range 10_000 {
			must.NoError(t, w.WriteHeader(&tar.Header{Name: fmt.Sprintf("d/%d", i)}))
		}
		for range 50_000 {
			must.NoError(t, w.WriteHeader(&tar.Header{Name: ".wh.d"}))
			must.NoError(t, w.WriteHeader(&tar.Header{Name: "d/.wh..wh..opq"}))
		}
	})
}

// giantWindow writes a zstd frame that asks for a window of 1 GiB.
func giantWindow(t *testing.T, to io.Writer) {
	const exponent = 30
	must.Value(to.Write([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, (exponent - 10) << 3, 0x01, 0x00, 0x00, 'x', 'x', 'x'}))(t)
}

// sparse writes an archive whose one file is 8 EiB of nothing.
func sparse(t *testing.T, to io.Writer) {
	archive := tarOf(t, file("sparse", ""))
	header := archive[:512]
	header[156] = tar.TypeGNUSparse
	copy(header[257:265], "ustar  \x00")
	number := func(at int, n uint64) { // base-256, as GNU tar writes large numbers
		field := header[at : at+12]
		clear(field)
		field[0] = 0x80
		binary.BigEndian.PutUint64(field[4:], n)
	}
	number(386, math.MaxInt64) // offset of the only, empty piece of data
	number(398, 0)             // and its length
	number(483, math.MaxInt64) // size of the file
	copy(header[148:156], "        ")
	sum := 0
	for _, b := range header {
		sum += int(b)
	}
	copy(header[148:156], fmt.Sprintf("%06o\x00 ", sum))
	must.Value(to.Write(archive))(t)
}
