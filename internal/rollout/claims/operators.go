package claims

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/tenancy"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Operator is what is needed of a ClusterServiceVersion.
type Operator struct {
	Namespace, Name, Replaces string
	Skips                     []string
	Version                   v1alpha1.OperatorVersion
	Leaving                   bool   // it is being deleted
	HasRun                    bool   // it runs, or has run
	Package                   string // empty where it does not say

	crds     []crdUse
	converts []string // CRDs, by webhook
}

// crdUse is that an operator owns or requires a version of a CRD.
type crdUse struct {
	crd, version string
	required     bool
}

// Operators are ClusterServiceVersions that exist, but for copies.
type Operators []Operator

// List lists the operators of all namespaces that a reader can see, or of those that the options select.
func List(ctx context.Context, reader client.Reader, options ...client.ListOption) (Operators, error) {
	var list v1alpha1.ClusterServiceVersionList
	// The objects are only read: copying them all, descriptions and icons included, would cost more than a plan.
	if err := reader.List(ctx, &list, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		return nil, fmt.Errorf("list the ClusterServiceVersions: %w", err)
	}
	var all Operators
	for i := range list.Items {
		if csv := &list.Items[i]; !csv.IsCopied() {
			all = append(all, Of(csv))
		}
	}
	return all, nil
}

// beyondPage is how many ClusterServiceVersions are read at once of namespaces that are not watched.
const beyondPage = 100

// Beyond adds the operators of namespaces that are not among those listed. Operators everywhere use CRDs as all others do; who may not list them goes by
// whom the CRDs say that they were installed with.
func (all Operators) Beyond(ctx context.Context, live client.Reader, crds []string) (Operators, error) {
	originals, err := labels.NewRequirement(v1alpha1.CopiedFromLabel, selection.DoesNotExist, nil)
	if err != nil {
		return nil, fmt.Errorf("select the ClusterServiceVersions that are no copies: %w", err)
	}
	for token, more := "", len(crds) > 0; more; more = token != "" {
		var page v1alpha1.ClusterServiceVersionList // a new one: what a page leaves out would be that of the page before
		err := live.List(ctx, &page, client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*originals)}, client.Limit(beyondPage), client.Continue(token))
		if apierrors.IsForbidden(err) {
			return all.alongside(ctx, live, crds)
		}
		if err != nil {
			return nil, fmt.Errorf("list the ClusterServiceVersions of all namespaces, because their operators may use the CustomResourceDefinitions of the InstallPlan: %w", err)
		}
		for i := range page.Items {
			all = all.with(Of(&page.Items[i]))
		}
		token = page.Continue
	}
	return all, nil
}

// Of is the operator of a ClusterServiceVersion.
func Of(csv *v1alpha1.ClusterServiceVersion) Operator {
	var uses []crdUse
	for _, d := range csv.Spec.CustomResourceDefinitions.Owned {
		uses = append(uses, crdUse{crd: d.Name, version: d.Version})
	}
	for _, d := range csv.Spec.CustomResourceDefinitions.Required {
		uses = append(uses, crdUse{crd: d.Name, version: d.Version, required: true})
	}
	return Operator{
		Namespace: csv.Namespace, Name: csv.Name, Replaces: csv.Spec.Replaces, Skips: csv.Spec.Skips, Version: csv.Spec.Version,
		Leaving: !csv.DeletionTimestamp.IsZero(), HasRun: tenancy.HasRun(csv), Package: bundle.PackageOf(csv), crds: uses, converts: convertedBy(csv),
	}
}

func (all Operators) find(namespace, name string) (Operator, bool) {
	i := slices.IndexFunc(all, func(o Operator) bool { return o.Namespace == namespace && o.Name == name })
	if i < 0 {
		return Operator{}, false
	}
	return all[i], true
}

// line returns the names of an operator that is to be installed, of those that it replaces, directly or not, and of those that are
// there already and replace it: what any of them owns is in the family.
func (all Operators) line(o Operator) map[string]bool {
	line := all.before(o)
	line[o.Name] = true
	for grown := true; grown; {
		grown = false
		for _, there := range all {
			if there.Namespace == o.Namespace && line[there.Replaces] && !line[there.Name] {
				line[there.Name], grown = true, true
			}
		}
	}
	return line
}

// before returns the names of those that an operator replaces, directly or not.
func (all Operators) before(o Operator) map[string]bool {
	before := map[string]bool{}
	for next := o.Replaces; next != "" && next != o.Name && !before[next]; {
		before[next] = true
		there, _ := all.find(o.Namespace, next)
		next = there.Replaces
	}
	return before
}

// asUser is what an operator has to do with a CRD.
func (o Operator) asUser(name string) crd.Operator {
	user := crd.Operator{Namespace: o.Namespace, Name: o.Name}
	for _, use := range o.crds {
		switch {
		case use.crd != name:
		case use.required:
			user.Requires = append(user.Requires, use.version)
		default:
			user.Owns = append(user.Owns, use.version)
		}
	}
	return user
}

// NewerThan names an operator that has taken the place of another one, and says how: it replaces that, directly or not, or is of its package
// and has a higher version. The catalog may have a lower version replace a higher one: what an operator replaces is never newer than it.
func (all Operators) NewerThan(o Operator, spared func(name string) bool) (name, how string) {
	before, after := all.before(o), map[string]bool{o.Name: true}
	for grown := true; grown; {
		grown = false
		for _, there := range all {
			takesOver := after[there.Replaces] || slices.ContainsFunc(there.Skips, func(name string) bool { return after[name] })
			if there.Namespace != o.Namespace || before[there.Name] || after[there.Name] || !takesOver {
				continue
			}
			after[there.Name], grown = true, true
			if !there.Leaving && !spared(there.Name) {
				return there.Name, "replaces it"
			}
		}
	}
	unknown := v1alpha1.OperatorVersion{}
	for _, there := range all {
		isHigher := there.Namespace == o.Namespace && o.Package != "" && there.Package == o.Package && !o.Version.EQ(unknown.Version) && there.Version.GT(o.Version.Version)
		if isHigher && !there.Leaving && !before[there.Name] && !spared(there.Name) {
			return there.Name, "is a newer version of package " + o.Package
		}
	}
	return "", ""
}

// alongside adds the operators that CRDs name. One that cannot be read is taken to own every version.
func (all Operators) alongside(ctx context.Context, live client.Reader, crds []string) (Operators, error) {
	watched := all
	for _, name := range crds {
		crd := &metav1.PartialObjectMetadata{}
		crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind(crdKind))
		if err := live.Get(ctx, client.ObjectKey{Name: name}, crd); client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read whom %s %s was installed with: %w", crdKind, name, err)
		}
		for key, value := range crd.GetAnnotations() {
			if !strings.HasPrefix(key, v1alpha1.InstalledAlongsideAnnotationPrefix) {
				continue
			}
			namespace, csv, _ := strings.Cut(value, "/")
			o, exists, err := (&Claimant{Live: live, Operators: watched}).find(ctx, namespace, csv)
			switch {
			case err != nil:
				o.crds = []crdUse{{crd: name}}
				all = append(all, o)
			case exists:
				all = all.with(o)
			}
		}
	}
	return all, nil
}

// with adds an operator that is not among them.
func (all Operators) with(o Operator) Operators {
	if _, known := all.find(o.Namespace, o.Name); known {
		return all
	}
	return append(all, o)
}
