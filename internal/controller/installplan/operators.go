package installplan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/tenancy"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// operator is what is needed of a ClusterServiceVersion.
type operator struct {
	namespace, name, replaces string
	skips                     []string
	version                   v1alpha1.OperatorVersion
	leaving                   bool   // it is being deleted
	hasRun                    bool   // it runs, or has run
	pkg                       string // empty where it does not say
	crds                      []crdUse
	converts                  []string // CRDs, by webhook
}

// operators are the ClusterServiceVersions that exist, but for copies, in all namespaces that the manager can see.
type operators []operator

func (c *Controller) operators(ctx context.Context) (operators, error) {
	var list v1alpha1.ClusterServiceVersionList
	// The objects are only read: copying them all, descriptions and icons included, would cost more than the plan.
	if err := c.client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the ClusterServiceVersions: %w", err)
	}
	var all operators
	for i := range list.Items {
		if csv := &list.Items[i]; !csv.IsCopied() {
			all = append(all, operatorOf(csv))
		}
	}
	return all, nil
}

func operatorOf(csv *v1alpha1.ClusterServiceVersion) operator {
	var uses []crdUse
	for _, d := range csv.Spec.CustomResourceDefinitions.Owned {
		uses = append(uses, crdUse{crd: d.Name, version: d.Version})
	}
	for _, d := range csv.Spec.CustomResourceDefinitions.Required {
		uses = append(uses, crdUse{crd: d.Name, version: d.Version, required: true})
	}
	return operator{
		namespace: csv.Namespace, name: csv.Name, replaces: csv.Spec.Replaces, skips: csv.Spec.Skips, version: csv.Spec.Version,
		leaving: !csv.DeletionTimestamp.IsZero(), hasRun: tenancy.HasRun(csv), pkg: bundle.PackageOf(csv), crds: uses, converts: convertedBy(csv),
	}
}

func (all operators) find(namespace, name string) (operator, bool) {
	i := slices.IndexFunc(all, func(o operator) bool { return o.namespace == namespace && o.name == name })
	if i < 0 {
		return operator{}, false
	}
	return all[i], true
}

// line returns the names of an operator that is to be installed, of those that it replaces, directly or not, and of those that are
// there already and replace it: what any of them owns is in the family.
func (all operators) line(o operator) map[string]bool {
	line := all.before(o)
	line[o.name] = true
	for grown := true; grown; {
		grown = false
		for _, there := range all {
			if there.namespace == o.namespace && line[there.replaces] && !line[there.name] {
				line[there.name], grown = true, true
			}
		}
	}
	return line
}

// before returns the names of those that an operator replaces, directly or not.
func (all operators) before(o operator) map[string]bool {
	before := map[string]bool{}
	for next := o.replaces; next != "" && next != o.name && !before[next]; {
		before[next] = true
		there, _ := all.find(o.namespace, next)
		next = there.replaces
	}
	return before
}

// beyondPage is how many ClusterServiceVersions are read at once of namespaces that the manager does not watch.
const beyondPage = 100

// findOperators finds the operators that the plan is judged by, and those that it installs. Operators of namespaces that the manager does not watch
// use CRDs as all others do; a manager that may not list them goes by whom the CRDs of the plan say that they were installed with.
func (x *execution) findOperators(ctx context.Context, c *Controller) error {
	all, err := c.operators(ctx)
	if err != nil {
		return err
	}
	var crds []string
	if len(c.Namespaces) > 0 {
		crds = x.existingCRDs(ctx)
	}
	originals, err := labels.NewRequirement(v1alpha1.CopiedFromLabel, selection.DoesNotExist, nil)
	if err != nil {
		return fmt.Errorf("select the ClusterServiceVersions that are no copies: %w", err)
	}
	var page v1alpha1.ClusterServiceVersionList
	for more := len(crds) > 0; more; more = page.Continue != "" {
		err := c.live.List(ctx, &page, client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*originals)}, client.Limit(beyondPage), client.Continue(page.Continue))
		if apierrors.IsForbidden(err) {
			if all, err = c.alongside(ctx, crds, all); err != nil {
				return err
			}
			break
		}
		if err != nil {
			return fmt.Errorf("list the ClusterServiceVersions of all namespaces, because their operators may use the CustomResourceDefinitions of the InstallPlan: %w", err)
		}
		for i := range page.Items {
			all = all.with(operatorOf(&page.Items[i]))
		}
	}
	installs := map[string]operator{}
	for name, csv := range x.incoming {
		installs[name] = operatorOf(csv)
	}
	x.claimant = newClaimant(x.live, x.plan.Namespace, all, installs)
	return nil
}

// existingCRDs are the names of CRDs that the plan has left to write and that the cluster has.
func (x *execution) existingCRDs(ctx context.Context) []string {
	var names []string
	for _, s := range x.steps {
		if s.due && s.object != nil && s.step.Resource.Kind == crdKind && !apierrors.IsNotFound(x.cached.Get(ctx, client.ObjectKey{Name: s.object.GetName()}, &apiextensionsv1.CustomResourceDefinition{})) {
			names = append(names, s.object.GetName())
		}
	}
	return names
}

// alongside adds the operators that CRDs name. One that cannot be read is taken to own every version.
func (c *Controller) alongside(ctx context.Context, crds []string, all operators) (operators, error) {
	watched := all
	for _, name := range crds {
		crd := &metav1.PartialObjectMetadata{}
		crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind(crdKind))
		if err := c.live.Get(ctx, client.ObjectKey{Name: name}, crd); client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read whom %s %s was installed with: %w", crdKind, name, err)
		}
		for key, value := range crd.GetAnnotations() {
			if !strings.HasPrefix(key, v1alpha1.InstalledAlongsideAnnotationPrefix) {
				continue
			}
			namespace, csv, _ := strings.Cut(value, "/")
			o, exists, err := (&claimant{live: c.live, operators: watched}).find(ctx, namespace, csv)
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
func (all operators) with(o operator) operators {
	if _, known := all.find(o.namespace, o.name); known {
		return all
	}
	return append(all, o)
}
