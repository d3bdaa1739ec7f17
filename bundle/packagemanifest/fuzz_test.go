package packagemanifest

import (
	"bytes"
	"context"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/catalog"
)

// FuzzManifest holds package files to what is relied on: a known default channel, and heads for all channels.
func FuzzManifest(f *testing.F) {
	f.Add([]byte("packageName: p\ndefaultChannel: stable\nchannels:\n- {name: stable, currentCSV: p.v1}\n"))
	f.Add([]byte(`{"packageName": "p", "channels": [{"name": "a", "currentCSV": "x"}, 1]}`))
	f.Add([]byte("a: &a [*a]\npackageName: *a\nchannels: 1"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, problems, ok := parse("p.package.yaml", text)
		for _, p := range problems {
			if p.Message == "" || p.Fix == "" || p.Position.File == "" {
				t.Errorf("a problem without place, message or fix: %+v", p)
			}
		}
		if !ok || len(problems) > 0 {
			return
		}
		found := false
		for _, c := range m.Channels {
			found = found || c.Name == m.DefaultChannel
			if c.CurrentCSV == "" {
				t.Errorf("channel %q has no head", c.Name)
			}
		}
		if !found || m.PackageName == "" {
			t.Errorf("default channel %q of package %q is not there", m.DefaultChannel, m.PackageName)
		}
	})
}

// FuzzConvert feeds manifests of any content: whatever is accepted can be written as a catalog.
func FuzzConvert(f *testing.F) {
	f.Add([]byte(manifestCSV("p.v1.0.0", "1.0.0", owns("things"))), []byte(manifestCRD("things")))
	f.Add([]byte("kind: ClusterServiceVersion\napiVersion: v1\nmetadata: {name: p.v1.0.0}"), []byte("{"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		c, _, err := Convert(context.Background(), fstest.MapFS{
			"p.package.yaml": {Data: []byte("packageName: p\nchannels: [{name: c, currentCSV: p.v1.0.0}]\n")},
			"1/a.yaml":       {Data: a},
			"1/b.yaml":       {Data: b},
		})
		if err != nil {
			return
		}
		if len(c.Packages) != 1 || len(c.Channels) != 1 || len(c.Bundles) == 0 {
			t.Errorf("an incomplete catalog: %s", summary(t, c))
		}
		if err := catalog.WriteJSON(&bytes.Buffer{}, c); err != nil {
			t.Error(err)
		}
	})
}
