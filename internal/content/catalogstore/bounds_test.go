package catalogstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// counting counts how many times files are opened.
type counting struct {
	fs.FS
	opened atomic.Int32
}

func (c *counting) Open(name string) (fs.File, error) {
	if name != "." {
		c.opened.Add(1)
	}
	return c.FS.Open(name)
}

// TestALimitIsNamedAndRemembered: with what raises it, and the same content is not read again to find the same.
func TestALimitIsNamedAndRemembered(t *testing.T) {
	for name, test := range map[string]struct {
		limits catalog.Limits
		want   string
	}{
		"bytes":  {catalog.Limits{TotalBytes: 100}, "the files of the catalog have 419 bytes, more than the limit (TotalBytes is 100); make the catalog smaller, or raise --bytes"},
		"memory": {catalog.Limits{MemoryBytes: 800}, "the catalog takes more memory than the limit (MemoryBytes is 800); make the catalog smaller, or raise --memory"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCache(t)
			c.Limits, c.Flags = test.limits, map[string]string{"TotalBytes": "--bytes", "MemoryBytes": "--memory"}
			tree := &counting{FS: fstest.MapFS{"catalog.json": {Data: []byte(text("1.0.0") + strings.Repeat(" ", 419-len(text("1.0.0"))))}}}
			for i := range 2 {
				_, err := c.FS(t.Context(), "sha256:1", tree)
				var exceeded *catalog.LimitError
				if !errors.As(err, &exceeded) || !strings.Contains(err.Error(), test.want) {
					t.Fatalf("error %v, want %s", err, test.want)
				}
				if n := tree.opened.Swap(0); i == 1 && n > 0 {
					t.Errorf("%d files were opened to find the same again", n)
				}
			}
			must.Equal(t, "indexes of what is refused", len(files(t, c, indexSuffix)), 0)
			c.Limits = catalog.Limits{}
			must.Equal(t, "with other limits", version(t, must.Value(c.FS(t.Context(), "sha256:1", tree))(t)), "1.0.0")
		})
	}
}

// TestSmallCatalogsDoNotWait for a large one, of which one at a time is read.
func TestSmallCatalogsDoNotWait(t *testing.T) {
	c := newCache(t)
	leave := must.Value(c.lanes.enter(t.Context(), largeBytes))(t)
	x, err := c.FS(t.Context(), "small", fstest.MapFS{"catalog.json": {Data: []byte(text("1.0.0"))}})
	if err != nil || version(t, x) != "1.0.0" {
		t.Fatalf("a small catalog beside a large one: %v", err)
	}
	large := fstest.MapFS{"catalog.json": {Data: []byte(text("1.0.0") + strings.Repeat(" ", largeBytes))}}
	soon, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.FS(soon, "large", large); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a large catalog beside a large one: %v, want that it waits", err)
	}
	leave()
	if x, err = c.FS(t.Context(), "large", large); err != nil || version(t, x) != "1.0.0" {
		t.Errorf("a large catalog alone: %v", err)
	}
}

// TestRefusalsAreBounded, however many contents someone makes.
func TestRefusalsAreBounded(t *testing.T) {
	var r refusals
	r.note("other", os.ErrNotExist)
	for i := range 3 * maxRefusals {
		r.note(strings.Repeat("x", i), &catalog.LimitError{})
	}
	if len(r.errs) > maxRefusals || r.of("other") != nil {
		t.Errorf("%d are remembered, and of another error %v", len(r.errs), r.of("other"))
	}
}
