package resolution

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/version"

	"github.com/blang/semver/v4"
)

// TestDifferencesBetweenTheAPIs has a row for each way in which the two APIs read the same catalog differently, and for what they agree on:
// where a Subscription (v0) and a ClusterExtension (v1) go from the same installed version.
func TestDifferencesBetweenTheAPIs(t *testing.T) {
	// Entries are NAME[<REPLACES][~SKIPRANGE][!SKIPPED]; names are versions, which a letter may follow.
	const chain = "1.0.0 1.1.0<1.0.0 1.2.0<1.1.0"
	tests := map[string]struct {
		channels  map[string]string // stable is the default channel
		installed string
		v0        string // the channel that the Subscription follows
		versions  string // that both are limited to
		v1        []string
		policy    UpgradePolicy
		wantV0    string
		wantV1    string
	}{
		"both go along the chain":                         {channels: map[string]string{"stable": chain}, installed: "1.0.0", v0: "stable", wantV0: "1.1.0", wantV1: "1.1.0"},
		"both install the newest":                         {channels: map[string]string{"stable": chain}, v0: "stable", wantV0: "1.2.0", wantV1: "1.2.0"},
		"both jump over a skipRange":                      {channels: map[string]string{"stable": "1.0.0 1.1.0<1.0.0 1.2.0<1.1.0~>=1.0.0 <1.2.0"}, installed: "1.0.0", v0: "stable", wantV0: "1.2.0", wantV1: "1.2.0"},
		"both leave out what is skipped":                  {channels: map[string]string{"stable": "1.0.0 1.1.0<1.0.0 1.2.0<1.0.0!1.1.0"}, installed: "1.0.0", v0: "stable", wantV0: "1.2.0", wantV1: "1.2.0"},
		"v1 can go to what another entry skips":           {channels: map[string]string{"stable": "1.0.0 1.1.0<1.0.0 1.2.0<1.0.0!1.1.0"}, installed: "1.0.0", v0: "stable", versions: "1.1.0", wantV1: "1.1.0"},
		"and by the skipRange of what is skipped":         {channels: map[string]string{"stable": "1.0.0 1.1.0~>=0.9.0 <1.1.0 1.2.0<1.0.0!1.1.0"}, installed: "0.9.0", v0: "stable", wantV0: "", wantV1: "1.1.0"},
		"the documented example of both differences":      {channels: map[string]string{"stable": "3.0.0!2.0.0 2.0.0~>=1.0.0 <2.0.0"}, installed: "1.0.0", v0: "stable", wantV0: "", wantV1: "2.0.0"},
		"neither takes two steps at once":                 {channels: map[string]string{"stable": chain}, installed: "1.0.0", v0: "stable", versions: ">=1.2.0"},
		"v1 skips by a name as v0 does":                   {channels: map[string]string{"stable": "1.0.0 1.1.0<1.0.0 1.2.0<1.1.0!1.0.0"}, installed: "1.0.0", v0: "stable", wantV0: "1.2.0", wantV1: "1.2.0"},
		"v0 follows a catalog back to a lower version":    {channels: map[string]string{"stable": "1.1.0 1.0.0<1.1.0"}, installed: "1.1.0", v0: "stable", wantV0: "1.0.0"},
		"v1 does where that is asked for":                 {channels: map[string]string{"stable": "1.1.0 1.0.0<1.1.0"}, installed: "1.1.0", v0: "stable", versions: "1.0.0", wantV0: "1.0.0", wantV1: "1.0.0"},
		"a channel without the installed version":         {channels: map[string]string{"stable": chain, "next": "2.0.0"}, installed: "1.0.0", v0: "next", v1: []string{"next"}},
		"one whose entry replaces it all the same":        {channels: map[string]string{"stable": chain, "next": "2.0.0<1.0.0"}, installed: "1.0.0", v0: "next", v1: []string{"next"}, wantV0: "2.0.0", wantV1: "2.0.0"},
		"v1 can be limited to several channels":           {channels: map[string]string{"stable": "1.0.0 1.1.0<1.0.0", "next": "1.2.0<1.0.0", "edge": "3.0.0<1.0.0"}, installed: "1.0.0", v0: "stable", v1: []string{"next", "stable"}, wantV0: "1.1.0", wantV1: "1.2.0"},
		"certified without a version is the highest":      {channels: map[string]string{"stable": chain, "next": "3.0.0"}, installed: "1.0.0", v0: "stable", policy: SelfCertified, wantV0: "1.1.0", wantV1: "3.0.0"},
		"v1 takes the highest version, v0 what is ahead":  {channels: map[string]string{"stable": "1.0.0 1.3.0<1.0.0 1.2.0<1.3.0~>=1.0.0 <1.2.0"}, installed: "1.0.0", v0: "stable", wantV0: "1.2.0", wantV1: "1.3.0"},
		"v1 without channels follows all of them":         {channels: map[string]string{"stable": "1.0.0 1.1.0<1.0.0", "next": "1.0.0 2.0.0<1.0.0"}, installed: "1.0.0", v0: "stable", wantV0: "1.1.0", wantV1: "2.0.0"},
		"v1 with a channel follows that":                  {channels: map[string]string{"stable": "1.0.0 1.1.0<1.0.0", "next": "1.0.0 2.0.0<1.0.0"}, installed: "1.0.0", v0: "stable", v1: []string{"stable"}, wantV0: "1.1.0", wantV1: "1.1.0"},
		"the default channel means nothing to v1":         {channels: map[string]string{"stable": "1.0.0 1.1.0<1.0.0", "next": "2.0.0"}, wantV0: "1.1.0", wantV1: "2.0.0"},
		"the same version under another name is one step": {channels: map[string]string{"stable": "1.0.0b"}, installed: "1.0.0", v0: "stable", wantV0: "", wantV1: "1.0.0b"},
		"the user can certify a step for v1":              {channels: map[string]string{"stable": chain}, installed: "1.0.0", v0: "stable", policy: SelfCertified, wantV0: "1.1.0", wantV1: "1.2.0"},
		"and the way back":                                {channels: map[string]string{"stable": chain}, installed: "1.2.0", v0: "stable", versions: "1.0.0", policy: SelfCertified, wantV0: "", wantV1: "1.0.0"},
		"otherwise neither goes back":                     {channels: map[string]string{"stable": chain}, installed: "1.2.0", v0: "stable", versions: "1.0.0"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			x := semanticsIndex(t, test.channels)
			must.Equal(t, "a Subscription goes to", nextV0(t, x, test.installed, test.v0, test.versions), test.wantV0)
			must.Equal(t, "a ClusterExtension goes to", nextV1(t, x, test.installed, test.v1, test.versions, test.policy), test.wantV1)
		})
	}
}

// nextV0 is where a Subscription goes; empty when it stays or has no answer.
func nextV0(t *testing.T, x *catalog.Index, installed, channel, versions string) string {
	t.Helper()
	ref := catalog.Ref{Namespace: "ns", Name: "cat"}
	in := NamespaceRequest{Namespace: "ns", Subscriptions: []Subscription{{Name: "s", Package: "p", Channel: channel, Catalog: ref, VersionRange: versions}},
		Sources: []Source{{Ref: ref, Index: x}}}
	if installed != "" {
		in.Subscriptions[0].Installed = "p." + installed
		in.Operators = []Operator{{Name: "p." + installed, Package: "p", Version: semver.MustParse(installed), Settled: true}}
	}
	result := must.Value(Namespace(t.Context(), in))(t)
	for _, g := range result.Groups {
		for _, c := range g.Choices {
			return strings.TrimPrefix(c.Bundle.Name, "p.")
		}
	}
	return ""
}

// nextV1 is where a ClusterExtension goes; empty when it stays or has no answer.
func nextV1(t *testing.T, x *catalog.Index, installed string, channels []string, versions string, policy UpgradePolicy) string {
	t.Helper()
	in := ExtensionRequest{Name: "my", Package: "p", Version: versions, Channels: channels, Policy: policy, Catalogs: []Catalog{{Name: "cat", Index: x}}}
	if installed != "" {
		in.Installed = &Installed{Name: "p." + installed, Version: version.VersionRelease{Version: semver.MustParse(installed)}}
	}
	result, err := Extension(t.Context(), in)
	if err != nil || result.Change == ChangeStay {
		return ""
	}
	return strings.TrimPrefix(result.Bundle.Name, "p.")
}

func semanticsIndex(t *testing.T, channels map[string]string) *catalog.Index {
	t.Helper()
	var text strings.Builder
	text.WriteString(`{"schema":"olm.package","name":"p","defaultChannel":"stable"}`)
	var bundles []string
	for name, entries := range channels {
		var all []string
		for _, entry := range strings.Split(strings.ReplaceAll(entries, " <", "\x00<"), " ") {
			entry = strings.ReplaceAll(entry, "\x00", " ")
			entry, skipped, _ := strings.Cut(entry, "!")
			entry, skipRange, _ := strings.Cut(entry, "~")
			entry, replaces, _ := strings.Cut(entry, "<")
			e := fmt.Sprintf(`{"name":"p.%s"`, entry)
			if replaces != "" {
				e += fmt.Sprintf(`,"replaces":"p.%s"`, replaces)
			}
			if skipRange != "" {
				e += fmt.Sprintf(`,"skipRange":%q`, skipRange)
			}
			if skipped != "" {
				e += fmt.Sprintf(`,"skips":["p.%s"]`, skipped)
			}
			all = append(all, e+"}")
			bundles = append(bundles, entry)
		}
		fmt.Fprintf(&text, `{"schema":"olm.channel","package":"p","name":%q,"entries":[%s]}`, name, strings.Join(all, ","))
	}
	slices.Sort(bundles)
	for _, b := range slices.Compact(bundles) {
		fmt.Fprintf(&text, `{"schema":"olm.bundle","package":"p","name":"p.%s","image":"quay.io/p:%[1]s","properties":[{"type":"olm.package","value":{"packageName":"p","version":%q}}]}`,
			b, strings.TrimRight(b, "b"))
	}
	c := must.Value(catalog.Load(t.Context(), fstest.MapFS{"c.json": {Data: []byte(text.String())}}, catalog.LoadOptions{}))(t)
	x := must.Value(catalog.NewIndex(c, "sha256:c"))(t)
	return x
}
