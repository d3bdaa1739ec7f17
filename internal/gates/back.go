package gates

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/rollout/crd"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pages is how many pages of custom resources are read before the context is checked again.
const pages = 10

// Back is what a step back to an earlier revision does to a CustomResourceDefinition and its stored objects. The rules for upgrades alone would
// bar every way back from a schema that was widened; whether that loses anything, only the objects can tell. The controller, fairlead rollback
// and fairlead plan all ask here.
type Back struct {
	// Blocked are the reasons not to go back; none means that nothing is lost.
	Blocked []string
	// Findings are those of the rules for upgrades. What Objects custom resources have proven to be harmless is exempt.
	Findings []crd.Finding
	// Proven are the findings that were exempted so.
	Proven  []crd.Finding
	Objects int

	unread bool // the custom resources would have to be read, and were not
}

// lookAtObjects compares all custom resources with another definition; nil is for not having done so.
type lookAtObjects func(ctx context.Context, reader client.Reader, live, desired *apiextensionsv1.CustomResourceDefinition, versions []string) (*crd.Scan, error)

// Err returns the reasons as an error; nil is none.
func (b *Back) Err() error {
	var all []error
	for _, reason := range b.Blocked {
		all = append(all, errors.New(reason))
	}
	return errors.Join(all...)
}

// GoBack judges the step from a definition of the cluster back to an earlier one. Where rules for schemas would stop it, all custom resources are
// read: what none of them uses can go. Findings that the policy exempts do not count.
func GoBack(ctx context.Context, reader client.Reader, live, desired *apiextensionsv1.CustomResourceDefinition, policy crd.Policy) (*Back, error) {
	return goBack(ctx, readAll, reader, live, desired, policy)
}

// goBack is GoBack with a way to look at the custom resources, such as to remember what was found.
func goBack(ctx context.Context, look lookAtObjects, reader client.Reader, live, desired *apiextensionsv1.CustomResourceDefinition, policy crd.Policy) (*Back, error) {
	b := &Back{Findings: crd.Safety(live, desired, policy)}
	schemas := false
	for _, f := range crd.Blocking(b.Findings) {
		if !provable(f) {
			b.Blocked = append(b.Blocked, fmt.Sprintf("CustomResourceDefinition %s: %s: %s", live.Name, f, f.Remedy))
		} else {
			schemas = true
		}
	}
	if !schemas {
		return b, nil
	}
	harm, err := b.harm(ctx, look, reader, live, desired)
	if err != nil {
		return nil, err
	}
	if b.unread {
		return b, nil
	}
	b.Blocked = append(b.Blocked, harm...)
	for i := range b.Findings {
		if f := &b.Findings[i]; len(harm) == 0 && f.Exempt == "" && provable(*f) {
			b.Proven = append(b.Proven, *f)
			f.Exempt = fmt.Sprintf("none of %d custom resources is affected", b.Objects)
		}
	}
	return b, nil
}

// provable reports whether custom resources can prove that a finding does no harm.
func provable(f crd.Finding) bool {
	return f.Check != crd.StoredVersionRemoval && f.Check != crd.Scope
}

// harm returns what going back would do to the custom resources that are stored.
func (b *Back) harm(ctx context.Context, look lookAtObjects, reader client.Reader, live, desired *apiextensionsv1.CustomResourceDefinition) ([]string, error) {
	var versions []string
	for _, v := range live.Spec.Versions {
		if v.Served && Serves(desired, v.Name) {
			versions = append(versions, v.Name)
		}
	}
	check, err := look(ctx, reader, live, desired, versions)
	if err != nil {
		return nil, err
	}
	if b.unread = check == nil; b.unread {
		return nil, nil
	}
	b.Objects = check.Objects
	var found []string
	if check.Unread != "" {
		found = append(found, fmt.Sprintf("CustomResourceDefinition %s: its custom resources cannot be looked at: %s", live.Name, check.Unread))
	}
	if check.Invalid > 0 {
		found = append(found, fmt.Sprintf("CustomResourceDefinition %s: %d of %d custom resources would be invalid: %s", live.Name, check.Invalid, check.Objects, texts(check.Sample)))
	}
	if check.Losing > 0 {
		found = append(found, fmt.Sprintf("CustomResourceDefinition %s: %d of %d custom resources would lose fields: %s", live.Name, check.Losing, check.Objects, texts(check.Losses)))
	}
	return found, nil
}

// Serves reports whether a definition serves a version.
func Serves(crd *apiextensionsv1.CustomResourceDefinition, version string) bool {
	return slices.ContainsFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == version && v.Served })
}

func texts[T fmt.Stringer](all []T) string {
	var out []string
	for _, one := range all {
		out = append(out, one.String())
	}
	return strings.Join(out, "; ")
}
