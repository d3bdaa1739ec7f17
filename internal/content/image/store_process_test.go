package image

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"
)

// severalImages fills a registry with images of some size, whose files "a" say
// which they are.
func severalImages(t *testing.T, r *testRegistry) (refs []string, want string) {
	t.Helper()
	for i := range 4 {
		content := fmt.Sprintf("content-%d;", i)
		filler := strings.Repeat(fmt.Sprintf("filler %d ", i), 20_000)
		repository := fmt.Sprintf("test/image%d:v1", i)
		r.push(t, repository, imageOf(t, nil, gzipOf(t, tarOf(t, file("a", content), file("b", filler))), zstdOf(t, tarOf(t, file("c", filler)))))
		refs, want = append(refs, r.host+"/"+repository), want+content
	}
	return refs, want
}

// TestProcessesPullAndCollectAtOnce has three processes take from each other,
// again and again, what they have just pulled.
func TestProcessesPullAndCollectAtOnce(t *testing.T) {
	t.Parallel()
	r := newTestRegistry(t)
	refs, want := severalImages(t, r)
	s := openStore(t, Config{})
	var wait []func()
	for i := range 3 {
		cmd, out := child(t, s, strings.Join(refs, " "), fmt.Sprint(childRounds, "=", sweep.Of(4, 4, 15)))
		wait = append(wait, func() {
			if err := cmd.Wait(); err != nil || out.String() != want {
				t.Errorf("process %d: %v, %q, want %q", i, err, out, want)
			}
		})
	}
	for _, each := range wait {
		each()
	}
	checkStore(t, s, refs, want)
}

// TestProcessesKilledAtRandom kills processes that pull and collect at any
// moment. What they leave behind is a store like any other.
func TestProcessesKilledAtRandom(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts and kills some dozens of processes")
	}
	r := newTestRegistry(t)
	refs, want := severalImages(t, r)
	s := openStore(t, Config{})
	random := rand.New(rand.NewPCG(3, 4))
	for range 12 {
		first, firstOut := child(t, s, strings.Join(refs, " "), childRounds+"=1000")
		second, secondOut := child(t, s, strings.Join(refs, " "), childRounds+"=1000")
		time.Sleep(time.Duration(20+random.IntN(300)) * time.Millisecond)
		_ = first.Process.Kill()
		_ = second.Process.Kill()
		_, _ = first.Wait(), second.Wait()
		if said := firstOut.String() + secondOut.String(); said != "" {
			t.Errorf("a process gave up before it was killed: %s", said)
		}
	}
	if layerRequests(r) == 0 {
		t.Error("no process lived long enough to ask for a layer")
	}
	// Images are whole or not there, without being opened by a pull.
	for _, name := range readDirNames(t, filepath.Join(string(s.dir), imagesDir)) {
		file := must.Value(os.Open(filepath.Join(string(s.dir), imagesDir, name)))(t)
		p, err := openPack(file)
		if err != nil {
			t.Errorf("image %s is not whole: %v", name, err)
			continue
		}
		_ = p.file.Close()
	}
	checkStore(t, s, refs, want)
}

// checkStore opens the store anew, pulls from it, and looks for what killed
// processes may have left.
func checkStore(t *testing.T, s *Store, refs []string, want string) {
	t.Helper()
	for _, kind := range []string{tmpDir, locksDir} {
		for _, name := range readDirNames(t, filepath.Join(string(s.dir), kind)) {
			age(t, filepath.Join(string(s.dir), kind, name))
		}
	}
	again := must.Value(Open(string(s.dir), Config{}))(t)
	if left := append(readDirNames(t, filepath.Join(string(s.dir), tmpDir)), readDirNames(t, filepath.Join(string(s.dir), locksDir))...); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
	got := ""
	for _, ref := range refs {
		content, err := pullOne(again, ref)
		if err != nil {
			t.Error(err)
		}
		got += content
	}
	if got != want {
		t.Errorf("pulled %q, want %q", got, want)
	}
	if err := collectAll(again); err != nil {
		t.Error(err)
	}
	stats, err := again.GC(context.Background(), nil, 0)
	if err != nil || stats.LeftBytes != 0 {
		t.Errorf("after all was collected %d bytes are left, error %v", stats.LeftBytes, err)
	}
}
