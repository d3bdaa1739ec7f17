package revision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/crd"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

var definitionKind = apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition").GroupKind()

// Definition is what is found about a CustomResourceDefinition of the objects.
type Definition struct {
	Name string
	// New reports that the cluster does not have it.
	New bool
	// Unchecked reports that the extension has switched the checks off.
	Unchecked bool
	crd.Verdict
}

// Definitions compares the CustomResourceDefinitions of the objects with those that the cluster has. An error is about the question, not an
// answer. Once a way back is known to be blocked, the custom resources of the other definitions are not read: these count as not blocked.
func (p Preflight) Definitions(ctx context.Context, s Change) ([]Definition, error) {
	policy, err := PolicyOf(s.Extension)
	if err != nil {
		return nil, err
	}
	stored := crd.Stored{Reader: p.Live, Count: p.Count, Backs: p.Backs, Recall: true}
	var all []Definition
	var changes []crd.Change
	for _, u := range s.Objects {
		if u.GroupVersionKind().GroupKind() != definitionKind {
			continue
		}
		live, err := crd.Live(ctx, p.Live, u.GetName())
		if err != nil {
			return nil, fmt.Errorf("read CustomResourceDefinition %s, to see whether its upgrade is safe: %w", u.GetName(), err)
		}
		desired, unreadable := crd.Read(u)
		if unreadable != nil && live != nil && !policy.None {
			return nil, Blocked(fmt.Errorf("read CustomResourceDefinition %s of the bundle: %w", u.GetName(), unreadable))
		}
		change := crd.Change{Live: live, Desired: desired, Policy: &policy, Back: s.Repeated}
		d := Definition{Name: u.GetName(), New: live == nil, Unchecked: policy.None}
		if unreadable == nil {
			d.Verdict, err = crd.Judge(ctx, change, stored)
		}
		if err != nil {
			return nil, err
		}
		all, changes = append(all, d), append(changes, change)
	}
	if p.Backs != nil && Unsafe(all) != nil {
		return all, nil
	}
	stored.Recall = false
	for i := range all {
		if all[i].Unread {
			if all[i].Verdict, err = crd.Judge(ctx, changes[i], stored); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// Unsafe is why the definitions must not replace those of the cluster; nil when they may.
func Unsafe(all []Definition) error {
	var unsafe []error
	for _, d := range all {
		unsafe = append(unsafe, d.Err)
	}
	return errors.Join(unsafe...)
}

// PolicyOf is how strictly the CustomResourceDefinitions of an extension are checked.
func PolicyOf(ext *olmv1.ClusterExtension) (crd.Policy, error) {
	if i := ext.Spec.Install; i != nil && i.Preflight != nil && i.Preflight.CRDUpgradeSafety != nil {
		if i.Preflight.CRDUpgradeSafety.Enforcement == olmv1.CRDUpgradeSafetyEnforcementNone {
			return crd.Policy{None: true}, nil
		}
	}
	return exemptions(ext)
}

// exemptions are what the annotation of an extension lets pass.
func exemptions(ext *olmv1.ClusterExtension) (crd.Policy, error) {
	var policy crd.Policy
	for _, text := range strings.Split(ext.Annotations[ExemptionsKey], ";") {
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		if len(words) > 3 {
			return policy, Misconfigured(fmt.Errorf("annotation %s has %q, which is not CHECK [CRD [PATH]]", ExemptionsKey, strings.TrimSpace(text)))
		}
		if check := crd.Check(words[0]); !slices.Contains(crd.Published(), check) {
			var names []string
			for _, check := range crd.Published() {
				names = append(names, string(check))
			}
			return policy, Misconfigured(fmt.Errorf("annotation %s names the check %q; there are %s", ExemptionsKey, check, strings.Join(names, ", ")))
		}
		words = append(words, "", "")
		policy.Exemptions = append(policy.Exemptions, crd.Exemption{Check: crd.Check(words[0]), CRD: words[1], Path: words[2],
			Reason: "annotation " + ExemptionsKey})
	}
	return policy, nil
}
