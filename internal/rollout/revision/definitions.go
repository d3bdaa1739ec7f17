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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var definitionKind = apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition").GroupKind()

// Definition is what is found about a CustomResourceDefinition of the objects.
type Definition struct {
	Name string
	// New says that the cluster does not have it.
	New bool
	// Unchecked says that the extension has switched the checks off.
	Unchecked bool
	Findings  []crd.Finding
	// Back is the verdict on a step back to an earlier revision; nil for an upgrade.
	Back *crd.Back
}

// Err is why the definition must not replace the one of the cluster; nil when it may.
func (d Definition) Err() error {
	if d.Back != nil {
		return d.Back.Err()
	}
	return crd.NewUnsafeError(d.Name, d.Findings)
}

// Definitions compares the CustomResourceDefinitions of the objects with those that the cluster has. An error is about the question, not an
// answer. Once a way back is known to be blocked, the custom resources of the other definitions are not read: these count as not blocked.
func (p Preflight) Definitions(ctx context.Context, s Change) ([]Definition, error) {
	policy, err := PolicyOf(s.Extension)
	if err != nil {
		return nil, err
	}
	var all []Definition
	var objects []*unstructured.Unstructured
	for _, u := range s.Objects {
		if u.GroupVersionKind().GroupKind() != definitionKind {
			continue
		}
		d := Definition{Name: u.GetName(), Unchecked: policy.None}
		if err := p.judge(ctx, u, policy, s.Repeated, p.Backs.Recall, &d); err != nil {
			return nil, err
		}
		all, objects = append(all, d), append(objects, u)
	}
	if p.Backs != nil && Unsafe(all) != nil {
		return all, nil
	}
	for i, d := range all {
		if d.Back != nil && d.Back.Unread {
			if err := p.judge(ctx, objects[i], policy, s.Repeated, p.Backs.Judge, &all[i]); err != nil {
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
		unsafe = append(unsafe, d.Err())
	}
	return errors.Join(unsafe...)
}

// judgeBack judges a step back to an earlier definition.
type judgeBack func(ctx context.Context, reader client.Reader, live, desired *apiextensionsv1.CustomResourceDefinition, policy crd.Policy) (*crd.Back, error)

func (p Preflight) judge(ctx context.Context, u *unstructured.Unstructured, policy crd.Policy, back bool, goBack judgeBack, d *Definition) (err error) {
	live := &apiextensionsv1.CustomResourceDefinition{}
	if err := p.Live.Get(ctx, client.ObjectKey{Name: u.GetName()}, live); err != nil {
		if apierrors.IsNotFound(err) {
			d.New = true
			return nil
		}
		return fmt.Errorf("read CustomResourceDefinition %s, to see whether its upgrade is safe: %w", u.GetName(), err)
	}
	if policy.None {
		return nil
	}
	wanted := &apiextensionsv1.CustomResourceDefinition{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, wanted); err != nil {
		return Blocked(fmt.Errorf("read CustomResourceDefinition %s of the bundle: %w", u.GetName(), err))
	}
	if !back {
		d.Findings = crd.Safety(live, wanted, policy)
		return nil
	}
	if d.Back, err = goBack(ctx, p.Live, live, wanted, policy); err != nil {
		return err
	}
	d.Findings = d.Back.Findings
	return nil
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
			return policy, Misconfigured(fmt.Errorf("annotation %s names the check %q; there are %s", ExemptionsKey, check, known()))
		}
		words = append(words, "", "")
		policy.Exemptions = append(policy.Exemptions, crd.Exemption{Check: crd.Check(words[0]), CRD: words[1], Path: words[2],
			Reason: "annotation " + ExemptionsKey})
	}
	return policy, nil
}

// known are the names of the checks that can be exempt, for people.
func known() string {
	var names []string
	for _, check := range crd.Published() {
		names = append(names, string(check))
	}
	return strings.Join(names, ", ")
}
