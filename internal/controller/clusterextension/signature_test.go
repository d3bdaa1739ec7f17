package clusterextension

import (
	"fmt"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestSignatureVerified is about what is fetched or refused now, and absent where no policy is configured.
func TestSignatureVerified(t *testing.T) {
	refused := revision.Blocked(fmt.Errorf("fetch bundle a.v2: %w", &image.Error{Kind: image.Unverified, Op: "pull", Ref: "r/a@sha256:2", Reason: "rule 1 of /p refuses it"}))
	covered := image.Record(&image.Verification{Outcome: image.Covered, Digest: "sha256:1", Signers: []image.Signer{{Key: "sha256:k"}},
		Catalog: &image.Origin{Ref: "r/c:v1", Digest: "sha256:c"}})
	of := func(record string) revision.History {
		r := olmv1.ClusterObjectSet{}
		r.Spec.LifecycleState = olmv1.LifecycleStateActive
		r.Annotations = map[string]string{olmv1.BundleNameKey: "a.v1", olmv1.BundleReferenceKey: "r/a@sha256:1", verificationKey: record}
		return revision.History{r}
	}
	for name, test := range map[string]struct {
		revisions revision.History
		outcome   outcome
		want      string // status, reason and a part of the message; empty is no condition
	}{
		"no policy":               {of(covered), outcome{}, ""},
		"nothing fetched":         {nil, outcome{verifies: true}, ""},
		"covered":                 {of(covered), outcome{verifies: true}, "True Covered bundle a.v1 is named by catalog r/c:v1 at sha256:c, which is signed by key sha256:k"},
		"before there was policy": {of(""), outcome{verifies: true}, "Unknown Undecided bundle a.v1 was fetched before there was a signature policy"},
		"an upgrade is refused":   {of(covered), outcome{verifies: true, problem: refused}, "False Unverified fetch bundle a.v2: pull image r/a@sha256:2: Unverified: rule 1 of /p refuses it"},
	} {
		t.Run(name, func(t *testing.T) {
			ext := &olmv1.ClusterExtension{}
			status := view{ext: ext, revisions: test.revisions, outcome: &test.outcome}.status(time.Now())
			got := ""
			if c := meta.FindStatusCondition(status.Conditions, olmv1.TypeSignatureVerified); c != nil {
				got = fmt.Sprintf("%s %s %s", c.Status, c.Reason, c.Message)
			}
			if !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if c := meta.FindStatusCondition(status.Conditions, olmv1.TypeProgressing); test.outcome.problem != nil && (c.Status != metav1.ConditionFalse || c.Reason != olmv1.ReasonBlocked) {
				t.Errorf("a refused bundle is %s %s", c.Status, c.Reason)
			}
		})
	}
}
