package v1alpha1

import (
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

const (
	own    = InstallModeTypeOwnNamespace
	single = InstallModeTypeSingleNamespace
	multi  = InstallModeTypeMultiNamespace
	all    = InstallModeTypeAllNamespaces
)

// needs are the modes that an operator in namespace o needs for some target namespaces.
var needs = map[string]struct {
	targets []string
	modes   []InstallModeType
	never   bool
}{
	"own":             {targets: []string{"o"}, modes: []InstallModeType{own}},
	"one other":       {targets: []string{"x"}, modes: []InstallModeType{single}},
	"two others":      {targets: []string{"x", "y"}, modes: []InstallModeType{multi}},
	"own and another": {targets: []string{"o", "x"}, modes: []InstallModeType{own, multi}},
	"another and own": {targets: []string{"x", "o"}, modes: []InstallModeType{own, multi}},
	"all":             {targets: []string{""}, modes: []InstallModeType{all}},
	"all and another": {targets: []string{"", "x"}, never: true},
	"another and all": {targets: []string{"x", ""}, never: true},
	"none":            {targets: []string{}, never: true},
	"none at all":     {targets: nil, never: true},
}

// TestSupportsMatrix tries every set of supported modes with every sort of target namespaces.
func TestSupportsMatrix(t *testing.T) {
	modes := []InstallModeType{own, single, multi, all}
	for bits := range 1 << len(modes) {
		set := InstallModeSet{}
		for i, mode := range modes {
			set[mode] = bits&(1<<i) != 0
		}
		for name, tc := range needs {
			missing := slices.DeleteFunc(slices.Clone(tc.modes), func(m InstallModeType) bool { return set[m] })
			want := !tc.never && len(missing) == 0
			err := set.Supports("o", tc.targets)
			must.Equal(t, name+": err == nil", err == nil, want)
			if len(missing) > 0 && !slices.ContainsFunc(missing, func(m InstallModeType) bool { return strings.HasPrefix(err.Error(), string(m)+" ") }) {
				t.Errorf("%s with %v: %q does not begin with one of %v", name, set, err, missing)
			}
		}
	}
}

func TestSupportsMessages(t *testing.T) {
	for name, tc := range map[string]struct {
		targets []string
		want    string
	}{
		"all":    {[]string{""}, "AllNamespaces InstallModeType not supported, cannot configure to watch all namespaces"},
		"own":    {[]string{"o"}, "OwnNamespace InstallModeType not supported, cannot configure to watch own namespace"},
		"single": {[]string{"x"}, "SingleNamespace InstallModeType not supported, cannot configure to watch one namespace"},
		"multi":  {[]string{"x", "y", "z"}, "MultiNamespace InstallModeType not supported, cannot configure to watch 3 namespaces"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := (InstallModeSet{}).Supports("o", tc.targets); err == nil || err.Error() != tc.want {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

func TestNewInstallModeSet(t *testing.T) {
	set, err := NewInstallModeSet([]InstallMode{{Type: own, Supported: true}, {Type: all}})
	if err != nil || !set[own] || set[all] || set[single] {
		t.Errorf("got %v, %v; want only OwnNamespace to be supported", set, err)
	}
	_, err = NewInstallModeSet([]InstallMode{{Type: own, Supported: true}, {Type: own, Supported: true}})
	must.Fail(t, "a mode that is named twice gives", err, "OwnNamespace")
}
