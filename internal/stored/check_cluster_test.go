package stored

import (
	"strings"
	"testing"
)

const (
	anySize   = "{type: integer}"
	smallSize = "{type: integer, maximum: 5}"
	evenSmall = "{type: integer, maximum: 4}"
)

// TestStoredObjects looks at 1,200 objects, in several pages, for upgrades that do and do not break them.
func TestStoredObjects(t *testing.T) {
	w := newWorld(t)
	w.install(w.crd(version("v1 served stored", anySize), version("v2 served", anySize)))
	w.fill("v1", 0, 1200, func(i int) any {
		if i%400 == 7 {
			return int64(9)
		}
		return int64(5)
	})
	narrow := w.install(w.crd(version("v1 served stored", smallSize), version("v2 served", anySize)))
	tests := map[string]struct {
		wanted  *definition
		changed []string
		invalid int
		first   string
	}{
		"pass: what was narrow becomes wide":              {w.crd(version("v1 served stored", anySize)), []string{"v1"}, 0, ""},
		"ratchet: what was invalid before does not count": {w.crd(version("v1 served stored", "{type: integer, maximum: 6}")), []string{"v1"}, 0, ""},
		"ratchet: though it becomes even more so":         {w.crd(version("v1 served stored", "{type: integer, maximum: 5, minimum: 1}")), []string{"v1"}, 0, ""},
		"fail: most become invalid":                       {w.crd(version("v1 served stored", evenSmall)), []string{"v1"}, 1197, "default/w000000: v1: ^.spec.size: spec.size in body should be less than or equal to 4"},
		"fail: in a version that they are not stored in":  {w.crd(version("v1 served stored", smallSize), version("v2 served", smallSize)), []string{"v2"}, 3, "default/w000007: v2: ^.spec.size: spec.size in body should be less than or equal to 5"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := NewCheck(w, narrow, tc.wanted, tc.changed)
			if err != nil {
				t.Fatal(err)
			}
			rounds := 0
			for ; !c.Done(); rounds++ {
				if err := c.Advance(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
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
			if still, err := c.StillInvalid(t.Context()); err != nil || still != (tc.invalid > 0) {
				t.Errorf("still invalid %t, %v", still, err)
			}
		})
	}
}

// TestConversionThatFails has a webhook that nobody serves between an upgrade and its objects.
func TestConversionThatFails(t *testing.T) {
	w := newWorld(t)
	w.install(w.crd(version("v1 served stored", anySize), version("v2 served", anySize)))
	w.fill("v1", 0, 3, w.wide(int64(9)))
	live := w.live()
	live.Spec.Conversion = deadConversion()
	if err := w.Update(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	w.await("the webhook to be asked", func() bool {
		c, err := NewCheck(w, w.live(), w.crd(version("v1 served stored", smallSize), version("v2 served", smallSize)), []string{"v1", "v2"})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Advance(t.Context(), 10); err != nil {
			t.Fatalf("the upgrade must not fail for it: %v", err)
		}
		// What needs no conversion is looked at, and what does is said to be unread.
		return c.Done() && c.Invalid == 3 && c.Sample[0].Problem.Version == "v1" && strings.Contains(c.Unread, "conversion webhook")
	})
}
