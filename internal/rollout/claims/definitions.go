package claims

import (
	"context"
	"fmt"
	"slices"
	"strings"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/tenancy"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const crdKind = "CustomResourceDefinition"

// FieldManager is that of all that InstallPlans write.
const FieldManager = "fairlead-installplan"

// CRDUpgradesAnnotation on an OperatorGroup, with the value strict, asks of every CRD that plans of its namespace upgrade what is else
// asked of those with several owners only.
const CRDUpgradesAnnotation = "operators.fairlead.dev/crd-upgrades"

// Definitions decide who has a say in the CRDs of an InstallPlan, and by which rules each may be replaced.
type Definitions struct {
	*Claimant
	// Groups reads OperatorGroups; a cache will do.
	Groups client.Reader
	// Everywhere reads InstallPlans in any namespace.
	Everywhere client.Reader
	// Incoming is what the plan installs, by name.
	Incoming map[string]*v1alpha1.ClusterServiceVersion

	strict   bool            // every upgrade of a CRD is checked as if it had several owners
	confined map[string]bool // namespaces whose OperatorGroup names an account
}

// Change is the step from a live CRD to a wanted one, as it comes out, with the claim of the plan on the CRD: where the plan leaves conversion
// alone, it stays.
func (x *Definitions) Change(ctx context.Context, csv string, wanted, live *apiextensionsv1.CustomResourceDefinition) (u crd.Change, claim Claim, err error) {
	wanted = wanted.DeepCopy()
	converter, converted := x.ConverterOf(live)
	switch {
	case x.Converts(csv, wanted.Name):
		wanted.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter}
	case wanted.Spec.Conversion != nil && wanted.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter: // of its own
	case converted && converter.Namespace == x.Namespace && x.Family[converter.Name]:
		wanted.Spec.Conversion = nil // it ends with the operator that is replaced
	case converted || wanted.Spec.Conversion == nil:
		wanted.Spec.Conversion = live.Spec.Conversion
	}
	exempted, err := crd.ParseExempted(live.Annotations[crd.ExemptionsKey])
	if err != nil {
		return u, claim, fmt.Errorf("upgrade %s %s: its %w; correct the annotation or remove it", crdKind, live.Name, err)
	}
	by := crd.Operator{Namespace: x.Namespace, Name: csv}
	if incoming, known := x.Incoming[csv]; known {
		by = Of(incoming).asUser(wanted.Name)
	}
	owned := slices.ContainsFunc(x.Operators, func(o Operator) bool { // by a member of the operator's line
		return o.Namespace == x.Namespace && x.Family[o.Name] && len(o.asUser(wanted.Name).Owns) > 0
	})
	u = crd.Change{Live: live, Desired: wanted, By: by, Others: x.usersOf(live), Joins: !owned, Strict: x.strict, Exempted: exempted}
	if claim, err = x.claimCRD(ctx, &u); err != nil || !u.Joins {
		return u, claim, err
	}
	arriving, err := x.arriving(ctx, live)
	u.Others = append(u.Others, arriving...)
	return u, claim, err
}

// usersOf are the operators that own or require a CRD and have a say in its upgrade, without those that the plan installs and what these replace. Who
// may create a ClusterServiceVersion may write any name into it, so owners need the evidence of tenancy.Counts.
//
// There is no such evidence of requirers: nothing but their own list names what they require. One whose namespace is confined to an account has no say:
// else a tenant could keep a version of any CRD of the cluster for ever, with a pod that only waits. It loses nothing that is stored, because a version
// leaves only after its objects are rewritten, and waits with a status that names the missing version. Requirers of other namespaces, in which an
// administrator lets operators have what they ask for, of the plan's own, and of namespaces that share the CRD, are asked.
func (x *Definitions) usersOf(live *apiextensionsv1.CustomResourceDefinition) []crd.Operator {
	var users []crd.Operator
	for _, other := range x.Operators {
		if other.Namespace == x.Namespace && x.Family[other.Name] {
			continue
		}
		user := other.asUser(live.Name)
		here := other.HasRun && other.Namespace == x.Namespace // which keeps up no other namespace
		if !here && !x.counts(other, live) {
			user.Owns = nil
		}
		if !here && (!other.HasRun || x.confined[other.Namespace] && !tenancy.BroughtFrom(live, other.Namespace)) {
			user.Requires = nil
		}
		if len(user.Owns)+len(user.Requires) > 0 {
			users = append(users, user)
		}
	}
	return users
}

// counts reports whether an operator that owns a CRD has a say in its upgrade.
func (x *Definitions) counts(o Operator, crd *apiextensionsv1.CustomResourceDefinition) bool {
	return tenancy.Counts(tenancy.Standing{Namespace: o.Namespace, Name: o.Name, HasRun: o.HasRun, Confined: x.confined[o.Namespace]}, crd)
}

// arriving are the operators that another plan is just bringing a CRD for: between the CRD and its operator a plan makes other writes.
func (x *Definitions) arriving(ctx context.Context, live *apiextensionsv1.CustomResourceDefinition) ([]crd.Operator, error) {
	var owners []crd.Operator
	for key, value := range live.Annotations {
		namespace, csv, _ := strings.Cut(value, "/")
		if !strings.HasPrefix(key, v1alpha1.InstalledAlongsideAnnotationPrefix) || namespace == x.Namespace {
			continue
		}
		if _, is := x.Operators.find(namespace, csv); is {
			continue
		}
		arrives, err := x.arrives(ctx, namespace, csv)
		if err != nil {
			return nil, err
		}
		if arrives {
			owners = append(owners, crd.Operator{Namespace: namespace, Name: csv, Owns: []string{""}})
		}
	}
	slices.SortFunc(owners, func(a, b crd.Operator) int { return strings.Compare(a.String(), b.String()) })
	return owners, nil
}

// arrives reports whether a plan of another namespace is just installing an operator. Where plans cannot be listed it is taken not to: that a CRD names
// an operator does not mean that it is still to come.
func (x *Definitions) arrives(ctx context.Context, namespace, csv string) (bool, error) {
	var plans v1alpha1.InstallPlanList
	err := x.Everywhere.List(ctx, &plans, client.InNamespace(namespace))
	if apierrors.IsForbidden(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("list the InstallPlans of namespace %s, one of which may be bringing ClusterServiceVersion %s/%s: %w", namespace, namespace, csv, err)
	}
	return slices.ContainsFunc(plans.Items, func(p v1alpha1.InstallPlan) bool {
		return p.Status.Phase == v1alpha1.InstallPlanPhaseInstalling && slices.Contains(p.Spec.ClusterServiceVersionNames, csv)
	}), nil
}

// Converts tells whether an operator of the plan serves the conversion webhook of a CRD.
func (x *Definitions) Converts(csv, crd string) bool {
	incoming := x.Incoming[csv]
	return incoming != nil && slices.Contains(convertedBy(incoming), crd)
}

// ConverterOf is the operator whose webhook converts a CRD now, if there is one. The controller that runs the operator is the only writer
// of that conversion, and ends it with the operator.
func (x *Definitions) ConverterOf(live *apiextensionsv1.CustomResourceDefinition) (Operator, bool) {
	c := live.Spec.Conversion
	if c == nil || c.Webhook == nil || c.Webhook.ClientConfig == nil || c.Webhook.ClientConfig.Service == nil {
		return Operator{}, false
	}
	i := slices.IndexFunc(x.Operators, func(o Operator) bool {
		return o.Namespace == c.Webhook.ClientConfig.Service.Namespace && slices.Contains(o.converts, live.Name)
	})
	if i < 0 {
		return Operator{}, false
	}
	return x.Operators[i], true
}

// convertedBy are the CRDs that an operator converts by webhook.
func convertedBy(csv *v1alpha1.ClusterServiceVersion) []string {
	var crds []string
	for _, w := range csv.Spec.WebhookDefinitions {
		if w.Type == v1alpha1.ConversionWebhook {
			crds = append(crds, w.ConversionCRDs...)
		}
	}
	return crds
}

// IsOperator tells whether a text namespace/name is that of a ClusterServiceVersion that exists and is no copy. If that cannot be
// found out, as in a namespace that the manager may not see, it is taken to exist.
func (x *Definitions) IsOperator(ctx context.Context, text string) bool {
	namespace, name, _ := strings.Cut(text, "/")
	csv := &metav1.PartialObjectMetadata{}
	csv.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.ClusterServiceVersionKind))
	if err := x.Live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, csv); err != nil {
		return !apierrors.IsNotFound(err)
	}
	return !v1alpha1.IsCopied(csv)
}

// ReadGroups reads from all OperatorGroups what they decide about CRDs: whether the namespace of the plan wants every upgrade to be checked, and which
// namespaces are confined to an account. The options are for those who may not list them all.
func (x *Definitions) ReadGroups(ctx context.Context, options ...client.ListOption) error {
	var groups operatorsv1.OperatorGroupList
	if err := x.Groups.List(ctx, &groups, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		return fmt.Errorf("list the OperatorGroups of all namespaces, which decide whose operators have a say in the upgrade of a %s: %w", crdKind, err)
	}
	x.strict, x.confined = false, map[string]bool{}
	for i := range groups.Items {
		g := &groups.Items[i]
		if g.Namespace == x.Namespace && g.Annotations[CRDUpgradesAnnotation] == "strict" {
			x.strict = true
		}
		if g.Spec.ServiceAccountName != "" {
			x.confined[g.Namespace] = true
		}
	}
	return nil
}
