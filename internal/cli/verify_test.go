package cli

import (
	"bytes"
	"strings"
	"testing"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/image"
)

// TestPolicyThatGoesAway: no verification and no error is what a store says without a policy.
func TestPolicyThatGoesAway(t *testing.T) {
	var out bytes.Buffer
	v := verifying{streams: command.Streams{Out: &out}}
	if err := v.report("quay.io/a:v1", nil, nil); err == nil || !strings.Contains(err.Error(), "the policy was removed") || out.Len() > 0 {
		t.Errorf("%v, and it prints %q", err, out.String())
	}
	if err := v.report("quay.io/a:v1", &image.Verification{Outcome: image.Accepted, Rules: []string{"rule 1"}}, nil); err != nil || !strings.Contains(out.String(), "accepted without a signature by rule 1") {
		t.Errorf("%v, and it prints %q", err, out.String())
	}
}
