package signature

import (
	"errors"
	"strings"
	"testing"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"
)

// TestDecidedWithoutTheRegistry decides without the registry, which does not answer here, exactly where no signature can change the decision.
func TestDecidedWithoutTheRegistry(t *testing.T) {
	t.Parallel()
	const accept, reject = `{"default": [{"type": "insecureAcceptAnything"}]}`, `{"default": [{"type": "reject"}]}`
	for name, tt := range map[string]struct {
		policy, containers string
		want               string // an outcome, "none" without a policy, or part of the error
	}{
		"accepted by a rule":      {policy: "default: reject\nrules: [{scope: localhost:1/a, action: accept}]", want: "Accepted"},
		"accepted by default":     {policy: "default: accept", want: "Accepted"},
		"rejected by a rule":      {policy: "default: accept\nrules: [{scope: localhost:1/a, action: reject}]", want: "rejects it (correct the policy"},
		"rejected by default":     {policy: "default: reject", want: "no rule is for its repository"},
		"accepted by both files":  {policy: "default: accept", containers: accept, want: "Accepted"},
		"rejected by policy.json": {policy: "default: accept", containers: reject, want: "reject"},
		"rejected by a scope of policy.json": {policy: "default: reject\nrules: [{scope: localhost:1/a, action: accept}]",
			containers: `{"default": [{"type": "insecureAcceptAnything"}], "transports": {"docker": {"localhost:1/a/b": [{"type": "reject"}]}}}`, want: "rejects it"},
		"no policy":                  {want: "none"},
		"the policy is absent":       {policy: "absent", want: "cannot be used"},
		"policy.json alone":          {containers: accept, want: "Accepted"},
		"rejected, and to be signed": {policy: "default: accept\nrules: [{scope: localhost:1/a, action: verify, signers: [{keys: [{file: k.pub}]}]}]", containers: reject, want: "reject"},
		"to be signed":               {policy: "default: accept\nrules: [{scope: localhost:1/a, action: verify, signers: [{keys: [{file: k.pub}]}]}]", want: "connection refused"},
		"to be signed, accepted by policy.json": {
			policy: "default: accept\nrules: [{scope: localhost:1/a, action: verify, signers: [{keys: [{file: k.pub}]}]}]", containers: accept, want: "connection refused",
		},
		"the policy cannot be read": {policy: "default: perhaps", want: "perhaps"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, c := t.TempDir(), Config{}
			decided := func(err error) bool { return image.KindOf(err) == image.Unverified }
			_, public := newTestKey(t)
			write(t, dir, "k.pub", public)
			if tt.policy == "absent" {
				c.Policy = dir + "/policy.yaml"
			} else if tt.policy != "" {
				c.Policy = write(t, dir, "policy.yaml", "version: 1\n"+tt.policy+"\n")
			}
			if tt.containers != "" {
				c.Containers = write(t, dir, "policy.json", tt.containers)
			}
			v, err := openStore(t, c, "").Verify(t.Context(), "localhost:1/a/b:v1", image.VerifyOptions{Outright: true})
			got := ""
			if err != nil {
				got = err.Error()
			} else if v == nil {
				got = "none"
			} else if got = string(v.Outcome); v.Digest != "" || v.Ref != "localhost:1/a/b:v1" || v.PolicyDigest == "" || len(v.Rules) == 0 {
				t.Errorf("%+v", v)
			}
			must.Contain(t, "result", got, tt.want)
			if err != nil && decided(err) != (tt.want != "connection refused") {
				t.Errorf("kind %s: %v", image.KindOf(err), err)
			}
			if unreadable := strings.HasPrefix(name, "the policy "); errors.Is(err, image.ErrUnreadablePolicy) != unreadable || image.Refuses(err) != (decided(err) && !unreadable) {
				t.Errorf("unreadable %t, refuses the image %t: %v", errors.Is(err, image.ErrUnreadablePolicy), image.Refuses(err), err)
			}
			free := tt.want == "Accepted" || tt.want == "none"
			request := image.VerifyRequest{Ref: "localhost:1/a/b:v1", Repository: "localhost:1/a/b", Tag: "v1"}
			if accepted, refusal := New(c).Outright(request); accepted != free || (refusal == nil) != (free || tt.want == "connection refused") {
				t.Errorf("by its name: %t, %v", accepted, refusal)
			} else if refusal != nil && (!decided(refusal) || !strings.Contains(refusal.Error(), tt.want)) {
				t.Errorf("refused by its name: %v", refusal)
			}
			if strings.HasPrefix(name, "the policy ") {
				if _, err := openStore(t, c, "").Verify(t.Context(), "localhost:1/a/b:v1", image.VerifyOptions{Digest: "sha256:" + strings.Repeat("1", 64)}); !errors.Is(err, image.ErrUnreadablePolicy) || image.Refuses(err) {
					t.Errorf("by its digest: %v", err)
				}
			}
			// Without the option an image is accepted only by its digest.
			_, err = openStore(t, c, "").Verify(t.Context(), "localhost:1/a/b:v1", image.VerifyOptions{})
			if err == nil || free && !strings.Contains(err.Error(), "connection refused") {
				t.Errorf("without the option: %v", err)
			}
		})
	}
}
