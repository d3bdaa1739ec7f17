package image

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	"github.com/opencontainers/go-digest"
)

// age makes a file of the store look unused for two hours.
func age(t testing.TB, path string) { ageBy(t, path, 2*time.Hour) }

func ageBy(t testing.TB, path string, by time.Duration) {
	t.Helper()
	then := time.Now().Add(-by)
	must.NoError(t, os.Chtimes(path, then, then))
}

func TestPutAndGet(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := openStore(t, Config{})
	for _, content := range []string{"", "content", strings.Repeat("x", 100_000)} {
		name, err := s.Put(ctx, []byte(content))
		if want := digest.FromString(content).String(); err != nil || name != want {
			t.Fatalf("Put: %s, %v, want %s", name, err, want)
		}
		if again, err := s.Put(ctx, []byte(content)); again != name || err != nil {
			t.Errorf("Put again: %s, %v", again, err)
		}
		other := must.Value(Open(string(s.dir), Config{}))(t)
		if got, err := other.Get(ctx, name); string(got) != content || err != nil {
			t.Errorf("Get by another store in the same directory: %d bytes, %v", len(got), err)
		}
	}
	if got := readDirNames(t, filepath.Join(string(s.dir), tmpDir)); len(got) != 0 {
		t.Errorf("left in tmp: %q", got)
	}
}

func TestGetRefuses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := openStore(t, Config{})
	name := must.Value(s.Put(ctx, []byte("content")))(t)
	must.NoError(t, os.WriteFile(s.dir.path(blobsDir, digest.Digest(name)), []byte("contend"), 0o600))
	if _, err := s.Get(ctx, name); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("Get of damaged content: %v", err)
	}
	if _, err := s.Put(ctx, []byte("content")); err != nil {
		t.Errorf("Put after damage: %v", err)
	}
	if got, err := s.Get(ctx, name); string(got) != "content" || err != nil {
		t.Errorf("Get after Put after damage: %q, %v", got, err)
	}
	if _, err := s.Get(ctx, digest.FromString("other").String()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Get of what is not there: %v", err)
	}
	for _, bad := range []string{"", "sha256:", "sha256:../../etc/passwd", "md5:d41d8cd98f00b204e9800998ecf8427e"} {
		if _, err := s.Get(ctx, bad); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Get(%q): %v, want a refusal", bad, err)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.Get(cancelled, name); !errors.Is(err, context.Canceled) {
		t.Errorf("Get, cancelled: %v", err)
	}
	if _, err := s.Put(cancelled, []byte("new")); !errors.Is(err, context.Canceled) {
		t.Errorf("Put, cancelled: %v", err)
	}
}

func TestDamagedImageIsReadAgain(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	d := r.push(t, "test/image:v1", imageOf(t, nil, gzipOf(t, tarOf(t, file("a", "content")))))
	s := openStore(t, Config{})
	pullFiles(t, s, r.host+"/test/image@"+d, PullOptions{})
	path := s.dir.path(imagesDir, digest.Digest(d))
	whole := must.Value(os.ReadFile(path))(t)
	flipped := append([]byte{}, whole...)
	flipped[2] ^= 1
	for name, damaged := range map[string][]byte{
		"torn": whole[:len(whole)/2], "empty": {}, "zeroes": make([]byte, len(whole)), "one bit": flipped,
	} {
		t.Run(name, func(t *testing.T) {
			must.NoError(t, os.WriteFile(path, damaged, 0o600))
			r.seen()
			if _, files := pullFiles(t, s, r.host+"/test/image@"+d, PullOptions{}); files["a"] != "content" {
				t.Errorf("files %v", files)
			}
			if len(r.seen()) == 0 {
				t.Error("the damage was not noticed")
			}
		})
	}
}

func TestGC(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	blob := func(i int) []byte { return []byte(fmt.Sprintf("%010d", i)) } // 10 bytes each
	name := func(i int) string { return digest.FromBytes(blob(i)).String() }
	tests := map[string]struct {
		keep []int
		used []int // read just before the collection
		max  int64
		left []int
	}{
		"nothing to do":                    {nil, nil, 60, []int{0, 1, 2, 3, 4, 5}},
		"the oldest go first":              {nil, nil, 35, []int{3, 4, 5}},
		"all that may go":                  {nil, nil, 0, []int{}},
		"what is wanted stays":             {[]int{0, 2}, nil, 30, []int{0, 2, 5}},
		"wanted content may be too much":   {[]int{0, 1, 2}, nil, 10, []int{0, 1, 2}},
		"use makes young":                  {nil, []int{0}, 20, []int{0, 5}},
		"what was just used stays as well": {nil, []int{0, 1}, 0, []int{0, 1}},
	}
	for title, tt := range tests {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			s := openStore(t, Config{})
			for i := range 6 {
				must.Value(s.Put(ctx, blob(i)))(t)
				ageBy(t, s.dir.path(blobsDir, digest.Digest(name(i))), time.Duration(10-i)*time.Minute)
			}
			for _, i := range tt.used {
				must.Value(s.Get(ctx, name(i)))(t)
			}
			keep := map[string]bool{}
			for _, i := range tt.keep {
				keep[name(i)] = true
			}
			stats := must.Value(s.GC(ctx, func(d string) bool { return keep[d] }, tt.max))(t)
			left := []int{}
			for i := range 6 {
				if _, err := s.Get(ctx, name(i)); err == nil {
					left = append(left, i)
				}
			}
			must.Equal(t, "left", left, tt.left)
			n := len(tt.left)
			if want := (GCStats{Removed: 6 - n, RemovedBytes: int64(60 - 10*n), LeftBytes: int64(10 * n)}); stats != want {
				t.Errorf("stats %+v, want %+v", stats, want)
			}
		})
	}
}

func TestGCStopsWhenCancelled(t *testing.T) {
	t.Parallel()
	s := openStore(t, Config{})
	name := must.Value(s.Put(context.Background(), []byte("content")))(t)
	age(t, s.dir.path(blobsDir, digest.Digest(name)))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.GC(ctx, nil, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if _, err := s.Get(context.Background(), name); err != nil {
		t.Errorf("removed all the same: %v", err)
	}
}
