package catalog

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

// TestLoadHostile loads what is made to cost much. Each must be refused, or
// taken, having allocated no more than a bound, all in all.
func TestLoadHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("allocates and reads some hundred megabytes")
	}
	// The texts. The bounds are generous: what they are to catch is ten or a thousand times more.
	all := map[string]hostileText{}
	for _, some := range []map[string]hostileText{hostileNesting(), hostileScalars(), hostileCrowds(), hostileReferences(), hostileBundles()} {
		for name, text := range some {
			all[name] = text
		}
	}
	for name, test := range all {
		t.Run(name, func(t *testing.T) {
			fsys := files(map[string]string{"a.yaml": test.text})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			c, err := Load(context.Background(), fsys, LoadOptions{})
			Validate(c)
			runtime.ReadMemStats(&after)
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > test.bound {
				t.Errorf("%d MiB were allocated for %d MiB, bound %d MiB", allocated/mib, len(test.text)/mib, test.bound/mib)
			}
			if took := time.Since(start); took > time.Minute {
				t.Errorf("it took %v", took)
			}
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %.500v, want %s", err, test.want)
			}
			if err != nil && len(err.Error()) > 10_000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

// TestValidateHostileGraph bounds what a channel may cost that is as bad as
// the limits allow.
func TestValidateHostileGraph(t *testing.T) {
	c := &Catalog{
		Packages: []Package{{Schema: SchemaPackage, Name: "p", DefaultChannel: "c"}},
		Channels: []Channel{{Schema: SchemaChannel, Package: "p", Name: "c"}},
	}
	for i := range 100_000 {
		c.Channels[0].Entries = append(c.Channels[0].Entries, Entry{
			Name: fmt.Sprintf("p.v%d", i), Replaces: fmt.Sprintf("p.v%d", i-1), Skips: []string{fmt.Sprintf("p.v%d", i/2)},
		})
	}
	start := time.Now()
	problems := Validate(c)
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	for _, p := range problems {
		if len(p.String()) > 5000 {
			t.Errorf("a problem of %d bytes: %.200s", len(p.String()), p)
		}
	}
	must.Fail(t, "Err", problems.Err(), "and 99980 more")
}

// endless is a directory that contains itself, as only a broken file system
// has it.
type endless struct{ fs.FS }

func (e endless) Open(name string) (fs.File, error) {
	if path.Base(name) == ignoreFile {
		return e.FS.Open(name)
	}
	return files(map[string]string{"sub/x": ""}).Open(".")
}

func TestLoadEndlessDirectories(t *testing.T) {
	_, err := Load(context.Background(), endless{files(nil)}, LoadOptions{Limits: Limits{Files: 1000}})
	must.Fail(t, "Load", err, "there are more than 1000 files and directories")
}
