package resolution

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"testing"
)

// The advice that changes a request.
var (
	toChannel = regexp.MustCompile(`set spec\.source\.catalog\.channels of ClusterExtension my to (\S+?)(?: and spec\.source\.catalog\.version to a range with ([^,;]+))?, which leads to ([^;]+)`)
	toVersion = regexp.MustCompile(`correct spec\.source\.catalog\.version of ClusterExtension my: the newest version (?:in its channels|that can be had now) is ([^,;]+)`)
	certified = regexp.MustCompile(`set spec\.source\.catalog\.upgradeConstraintPolicy of ClusterExtension my to SelfCertified(?: and spec\.source\.catalog\.version to a range with ([^,;]+))?`)
)

// TestExtensionAdviceWorks follows the advice of random conflicts about channels, ranges and edges, and demands an answer.
func TestExtensionAdviceWorks(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	followed := map[string]int{}
	for range 4000 {
		in := randomRequest(t, random)
		in.Name = "my"
		_, err := Extension(t.Context(), in)
		var conflict *Conflict
		if in.Installed == nil || !errors.As(err, &conflict) || conflict.Reason != VersionNotFound && conflict.Reason != NoSuccessor {
			continue
		}
		follow := func(way, version, bundle string, change func(*ExtensionRequest)) {
			followed[way]++
			changed := in
			change(&changed)
			if version != "" {
				changed.Version = "=" + version
			}
			result, err := Extension(t.Context(), changed)
			if err != nil || result.Bundle == nil || bundle != "" && result.Bundle.Name != bundle {
				t.Fatalf("advised: %s\nfollowed (%s): %s", conflict.Advice, way, tell(result, err))
			}
		}
		if m := toChannel.FindStringSubmatch(conflict.Advice); m != nil {
			follow("channel", m[2], m[3], func(r *ExtensionRequest) { r.Channels = []string{m[1]} })
		}
		if m := toVersion.FindStringSubmatch(conflict.Advice); m != nil {
			follow("version", m[1], "", func(*ExtensionRequest) {})
		}
		if m := certified.FindStringSubmatch(conflict.Advice); m != nil {
			follow("policy", m[1], "", func(r *ExtensionRequest) { r.Policy = SelfCertified })
		}
	}
	for _, way := range []string{"channel", "version", "policy"} {
		if followed[way] == 0 {
			t.Errorf("no advice about the %s was followed: %v", way, followed)
		}
	}
}
