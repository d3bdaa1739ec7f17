package catalog

import (
	"bytes"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
)

// TestSharedIndex: the same answers for each reader, from the same memory, and also when another one has closed theirs. The one whose file it is ends it for all.
func TestSharedIndex(t *testing.T) {
	fsys := tree(t, filepath.Join("testdata", "bundle-object.txtar"))
	_, inMemory := built(t, fsys, LoadOptions{})
	fromFile := must.Value(Build(t.Context(), fsys, "sha256:0", filepath.Join(t.TempDir(), "index"), LoadOptions{}))(t)
	var want bytes.Buffer
	dump(t, &want, inMemory)
	holds := func(who string, x *Index) {
		t.Helper()
		var got bytes.Buffer
		dump(t, &got, x)
		must.Equal(t, "the answers of "+who, cmp.Diff(want.String(), got.String()), "")
	}
	first, second := fromFile.Shared(), fromFile.Shared()
	compareIndexes(t, inMemory, first)
	for _, name := range fromFile.PackageNames() {
		mine, _ := first.Package(name)
		theirs, _ := fromFile.Package(name)
		if mine != theirs {
			t.Errorf("package %s is there twice", name)
		}
	}
	for range 2 { // as often as they like
		must.NoError(t, first.Close())
	}
	holds("one that is closed", first)
	holds("the other", second)
	holds("the one that is shared", fromFile)
	again := second.Shared()
	must.NoError(t, second.Close())
	holds("one that is shared twice", again)

	must.NoError(t, fromFile.Close())
	for who, x := range map[string]*Index{"the one that is shared": fromFile, "another": again} {
		for content, err := range x.Objects(ObjectFilter{}) {
			if err == nil {
				t.Errorf("%s still reads from the file: %.100s", who, content)
			}
			break
		}
		must.Equal(t, who+" still has the rest", x.PackageNames(), inMemory.PackageNames())
	}
}

// TestSharedIndexAtOnce: what is worked out when it is first asked for is worked out once for all readers, whichever asks.
func TestSharedIndexAtOnce(t *testing.T) {
	_, x := built(t, tree(t, filepath.Join("testdata", "bundle-object.txtar")), LoadOptions{})
	worked := 0
	x.ends = sync.OnceValues(func() ([]int64, error) { worked++; return x.findEnds() })
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() { contentText(t, x.Shared()) })
	}
	readers.Wait()
	must.Equal(t, "how often it was worked out", worked, 1)
}

// TestSharedIndexOutlivesItsOwner: an index that no one holds any more is closed by and by, but not while another reader has it.
func TestSharedIndexOutlivesItsOwner(t *testing.T) {
	fsys := tree(t, filepath.Join("testdata", "bundle-object.txtar"))
	path := filepath.Join(t.TempDir(), "index")
	must.NoError(t, must.Value(Build(t.Context(), fsys, "sha256:0", path, LoadOptions{}))(t).Close())
	shared := must.Value(Open(path))(t).Shared()
	for range 5 {
		runtime.GC()
	}
	n := 0
	for _, err := range shared.Objects(ObjectFilter{}) {
		must.NoError(t, err)
		n++
	}
	if n == 0 {
		t.Error("nothing is read")
	}
	runtime.KeepAlive(shared)
}
