package crd

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/test/must"
)

const (
	anySize   = "{type: integer}"
	smallSize = "{type: integer, maximum: 5}"
	evenSmall = "{type: integer, maximum: 4}"
)

// TestStoredObjects looks at 1,200 objects, in several pages, for upgrades that do and do not break them.
func TestStoredObjects(t *testing.T) {
	w := newWorld(t)
	w.install(w.crd(versionYAML("v1 served stored", anySize), versionYAML("v2 served", anySize)))
	w.fill("v1", 0, 1200, func(i int) any {
		if i%400 == 7 {
			return int64(9)
		}
		return int64(5)
	})
	narrow := w.install(w.crd(versionYAML("v1 served stored", smallSize), versionYAML("v2 served", anySize)))
	tests := map[string]struct {
		wanted  *definition
		changed []string
		invalid int
		first   string
	}{
		"pass: what was narrow becomes wide":              {w.crd(versionYAML("v1 served stored", anySize)), []string{"v1"}, 0, ""},
		"ratchet: what was invalid before does not count": {w.crd(versionYAML("v1 served stored", "{type: integer, maximum: 6}")), []string{"v1"}, 0, ""},
		"ratchet: though it becomes even more so":         {w.crd(versionYAML("v1 served stored", "{type: integer, maximum: 5, minimum: 1}")), []string{"v1"}, 0, ""},
		"fail: most become invalid":                       {w.crd(versionYAML("v1 served stored", evenSmall)), []string{"v1"}, 1197, "default/w000000: v1: ^.spec.size: spec.size in body should be less than or equal to 4"},
		"fail: in a version that they are not stored in":  {w.crd(versionYAML("v1 served stored", smallSize), versionYAML("v2 served", smallSize)), []string{"v2"}, 3, "default/w000007: v2: ^.spec.size: spec.size in body should be less than or equal to 5"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := must.Value(NewScan(w, narrow, tc.wanted, tc.changed, nil))(t)
			rounds := 0
			for ; !c.Done(); rounds++ {
				must.NoError(t, c.Advance(t.Context(), 1))
			}
			if rounds != 4 || c.Objects != 1200 { // 100, 500, 500 and 100
				t.Errorf("%d pages, %d objects", rounds, c.Objects)
			}
			if c.Invalid != tc.invalid || len(c.Sample) != min(tc.invalid, sampled) {
				t.Errorf("%d invalid: %v", c.Invalid, c.Sample)
			}
			if tc.first != "" && c.Sample[0].String() != tc.first {
				t.Errorf("first %s", c.Sample[0])
			}
			must.Equal(t, "still invalid", must.Value(c.stillBlocks(t.Context(), false))(t), tc.invalid > 0)
		})
	}
}

// TestConversionThatFails has a webhook that nobody serves between an upgrade and its objects.
func TestConversionThatFails(t *testing.T) {
	w := newWorld(t)
	w.install(w.crd(versionYAML("v1 served stored", anySize), versionYAML("v2 served", anySize)))
	w.fill("v1", 0, 3, w.wide(int64(9)))
	live := w.live()
	live.Spec.Conversion = deadConversion()
	must.NoError(t, w.Update(t.Context(), live))
	w.await("the webhook to be asked", func() bool {
		wanted := w.crd(versionYAML("v1 served stored", smallSize), versionYAML("v2 served", smallSize))
		wanted.Spec.Conversion = deadConversion()
		c := must.Value(NewScan(w, w.live(), wanted, []string{"v1", "v2"}, nil))(t)
		must.NoErrorf(t, c.Advance(t.Context(), 10), "the upgrade must not fail for it")
		// What needs no conversion is looked at, and what does is said to be unread.
		return c.Done() && c.Invalid == 3 && c.Sample[0].Problem.Version == "v1" && strings.Contains(c.Unread, "conversion webhook")
	})
}

// TestObjectsThatOnlyTheirWebhookCanRead has a webhook go that nobody serves, while an object is stored in a version that it converts.
func TestObjectsThatOnlyTheirWebhookCanRead(t *testing.T) {
	w := newWorld(t)
	w.install(w.crd(versionYAML("v1 served stored", anySize), versionYAML("v2 served", smallSize)))
	w.fill("v1", 0, 3, w.wide(int64(9)))
	live := w.install(w.crd(versionYAML("v1 served", anySize), versionYAML("v2 served stored", smallSize)))
	live.Spec.Conversion = deadConversion()
	must.NoError(t, w.Update(t.Context(), live))
	wanted := w.crd(versionYAML("v1 served", anySize), versionYAML("v2 served stored", smallSize))
	verdict := planRules(Change{Live: w.live(), Desired: wanted})
	if !verdict.Unconverted || !slices.Equal(verdict.Leaving, []string{"v1"}) {
		t.Fatalf("%+v", verdict)
	}
	w.await("the webhook to be asked", func() bool {
		c := must.Value(NewScan(w, w.live(), wanted, verdict.Changed, nil))(t)
		must.NoError(t, c.Advance(t.Context(), 10))
		return c.Done() && strings.Contains(c.Unread, "conversion webhook")
	})
	m := Migration{Client: w, Reader: w, Live: w.live(), Leaving: verdict.Leaving, Unconverted: true, Now: later()}
	if p, err := m.Advance(t.Context(), 9); err == nil || p.Done || !strings.Contains(err.Error(), "conversion webhook") {
		t.Errorf("%+v, %v: what cannot be read cannot be rewritten", p, err)
	}
}

// withLegacy is one version of a CRD whose objects have spec.size and, if it is known, spec.legacy.
func withLegacy(words string, known bool) string {
	if !known {
		return versionYAML(words, anySize)
	}
	return strings.Replace(versionYAML(words, anySize), "properties: {size:", "properties: {legacy: {type: string}, size:", 1)
}

// TestObjectsThatLoseFields stores objects in a version from now on that does not know all that they say.
func TestObjectsThatLoseFields(t *testing.T) {
	w := newWorld(t)
	live := w.install(w.crd(withLegacy("v1 served stored", true)))
	w.fill("v1", 0, 10, w.wide(int64(1)))
	w.setLegacy("v1", "w000003", "w000004")
	tests := map[string]struct {
		wanted *definition
		losing int
	}{
		"another version is stored, without the field": {w.crd(withLegacy("v1 served", true), withLegacy("v2 served stored", false)), 2},
		"another version is stored, with the field":    {w.crd(withLegacy("v1 served", true), withLegacy("v2 served stored", true)), 0},
		"another version is there, but not stored":     {w.crd(withLegacy("v1 served stored", true), withLegacy("v2 served", false)), 0},
		"the field goes": {w.crd(withLegacy("v1 served stored", false)), 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			verdict := planRules(Change{Live: live, Desired: tc.wanted})
			c := must.Value(NewScan(w, live, tc.wanted, verdict.Changed, nil))(t)
			if err := c.Advance(t.Context(), 10); err != nil || !c.Done() {
				t.Fatal(err)
			}
			if c.Losing != tc.losing || c.Invalid != 0 || verdict.Prunes != (tc.losing > 0) {
				t.Errorf("%d of %d lose something, prunes %t", c.Losing, c.Objects, verdict.Prunes)
			}
			if tc.losing > 0 && c.Losses[0].String() != "default/w000003: ^.spec.legacy" {
				t.Error(c.Losses[0])
			}
		})
	}
}

func (w *world) setLegacy(version string, names ...string) {
	w.t.Helper()
	for _, name := range names {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(kindIn(w.live(), version))
		o.SetNamespace("default")
		o.SetName(name)
		must.NoError(w.t, w.Patch(w.t.Context(), o, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"legacy":"x"}}`))))
	}
}

// TestMigrationThatWouldLoseFields turns a version off that knows a field which the stored one does not. Nothing can read the field
// any more, and it is there nevertheless.
func TestMigrationThatWouldLoseFields(t *testing.T) {
	w := newWorld(t)
	w.install(w.crd(withLegacy("v1alpha1 served stored", true), withLegacy("v1 served", false)))
	w.fill("v1alpha1", 0, 5, w.wide(int64(1)))
	w.setLegacy("v1alpha1", "w000001")
	w.install(w.crd(withLegacy("v1alpha1 - -", true), withLegacy("v1 served stored", false)))
	migrate := func() (Progress, error) {
		m := Migration{Client: w, Reader: w, Live: w.live(), Leaving: []string{"v1alpha1"}, Now: later()}
		return m.Advance(t.Context(), 9)
	}
	p, err := migrate()
	var loss *LossError
	if !errors.As(err, &loss) || p.Done || loss.Count != 1 || loss.Objects[0].String() != "default/w000001: ^.spec.legacy" {
		t.Fatalf("%+v, %v", p, err)
	}
	if got := w.live().Status.StoredVersions; !slices.Contains(got, "v1alpha1") {
		t.Fatalf("stored versions %v", got)
	}
	// The field is still there for those who follow the advice.
	w.install(w.crd(withLegacy("v1alpha1 served -", true), withLegacy("v1 served stored", false)))
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kindIn(w.live(), "v1alpha1"))
	must.NoError(t, w.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "w000001"}, o))
	if legacy, _, _ := unstructured.NestedString(o.Object, "spec", "legacy"); legacy != "x" {
		t.Fatalf("the field is lost: %v", o.Object["spec"])
	}
	w.install(w.crd(withLegacy("v1alpha1 - -", true), withLegacy("v1 served stored", false)))
	// Whoever writes the object gives the field up; the time of writes is known to the second.
	time.Sleep(time.Until(versionsChanged(w.live()).Add(settleTime + 2*time.Second)))
	o.SetGroupVersionKind(kindIn(w.live(), "v1"))
	must.NoError(t, w.Patch(t.Context(), o, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"given":"up"}}}`))))
	if p, err := migrate(); err != nil || !p.Done {
		t.Errorf("%+v, %v", p, err)
	}
}
