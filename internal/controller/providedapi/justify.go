package providedapi

import (
	"context"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/tenancy"
)

// standing is what an operator means for the roles of what it owns.
type standing int

const (
	refused standing = iota // it justifies none
	keeps                   // it keeps those that exist: it does not run at the moment
	gives                   // it runs
)

// provider is an operator that owns a definition.
type provider struct {
	csv *v1alpha1.ClusterServiceVersion
	standing
	// apis are those of the definition, as the operator describes them.
	apis []api
	// why is why it is refused; empty where its own status says so.
	why string
}

// judgement is what the operators that own a definition are judged by.
type judgement struct {
	*Controller
	kind       string
	definition client.Object
	memory     memory
}

// of judges an operator.
func (j judgement) of(ctx context.Context, csv *v1alpha1.ClusterServiceVersion) (provider, error) {
	p := provider{csv: csv, apis: described(csv, j.kind, j.definition)}
	p.standing = byPhase(csv)
	if p.standing == refused {
		return p, nil
	}
	why, err := j.unjustified(ctx, csv)
	if err == nil && why == "" && j.definition.GetLabels()[v1alpha1.ProvidedRolesLabel] != "true" {
		var known bool
		if known, why, err = j.unaccounted(ctx, p); !known {
			p.standing = min(p.standing, keeps)
		}
	}
	if p.why = why; why != "" {
		p.standing = refused
	}
	return p, err
}

// byPhase is what the status of an operator means. One that failed or is being installed again comes back, and its roles stay. One that was refused
// because the API is another operator's has lost them.
func byPhase(csv *v1alpha1.ClusterServiceVersion) standing {
	switch {
	case csv.Status.Phase == v1alpha1.CSVPhaseSucceeded:
		return gives
	case csv.Status.Phase != v1alpha1.CSVPhaseFailed:
		return keeps
	}
	switch csv.Status.Reason {
	case v1alpha1.CSVReasonOwnerConflict, v1alpha1.CSVReasonInterOperatorGroupOwnerConflict, v1alpha1.CSVReasonCannotModifyStaticProvidedAPIs:
		return refused
	}
	return keeps
}

// unjustified is why the definition itself says that an operator opens nothing; empty when it may.
func (j judgement) unjustified(ctx context.Context, csv *v1alpha1.ClusterServiceVersion) (string, error) {
	if err := bundle.CheckOwned(csv); err != nil {
		return err.Error(), nil
	}
	name := j.kind + " " + j.definition.GetName()
	switch j.definition.GetLabels()[v1alpha1.ProvidedRolesLabel] {
	case "true":
		return "", nil
	case "false":
		return fmt.Sprintf("the label %s=false of %s forbids it", v1alpha1.ProvidedRolesLabel, name), nil
	}
	if j.kind == kindCRD {
		return unbrought(j.definition, csv, j.memory), nil
	}
	labels := j.definition.GetLabels()
	if labels[v1alpha1.OwnerLabel] != csv.Name || labels[v1alpha1.OwnerNamespaceLabel] != csv.Namespace || labels[v1alpha1.OwnerKindLabel] != v1alpha1.ClusterServiceVersionKind {
		return fmt.Sprintf("%s was not registered for it; an administrator allows it by the label %s=true on the %s", name, v1alpha1.ProvidedRolesLabel, j.kind), nil
	}
	return j.besideCRD(ctx, csv)
}

// unbrought is why a CRD was not brought for an operator.
func unbrought(crd client.Object, csv *v1alpha1.ClusterServiceVersion, known memory) string {
	plan := planOf(crd, csv.Namespace, csv.Name)
	remedy := fmt.Sprintf("an administrator allows it by the label %s=true on the %s", v1alpha1.ProvidedRolesLabel, kindCRD)
	switch {
	case !tenancy.Brought(crd, csv.Namespace, csv.Name):
		return fmt.Sprintf("no InstallPlan brought %s %s for it, or it was there before; %s", kindCRD, crd.GetName(), remedy)
	case slices.ContainsFunc(known[nameOf(csv)], func(one meant) bool { return one.plan == plan && one.uid != string(csv.UID) }):
		return fmt.Sprintf("an InstallPlan brought %s %s for another ClusterServiceVersion of this name, which no longer exists; %s", kindCRD, crd.GetName(), remedy)
	}
	return ""
}

// besideCRD is why an aggregated API opens a CRD that is not the operator's: a role names a resource and its group, and holds for all versions of them,
// wherever they are served from.
func (j judgement) besideCRD(ctx context.Context, csv *v1alpha1.ClusterServiceVersion) (string, error) {
	service, ok := j.definition.(*apiregistrationv1.APIService)
	if !ok {
		return "", nil
	}
	for _, d := range csv.OwnedAPIServices() {
		if d.APIServiceName() != service.Name {
			continue
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		err := j.client.Get(ctx, client.ObjectKey{Name: d.Name + "." + d.Group}, crd, client.UnsafeDisableDeepCopy)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("read %s %s.%s, which has the resource of APIService %s: %w", kindCRD, d.Name, d.Group, service.Name, err)
		}
		if crd.Labels[v1alpha1.ProvidedRolesLabel] == "false" {
			return fmt.Sprintf("an administrator closed %s %s, which has the same resource, by the label %s", kindCRD, crd.Name, v1alpha1.ProvidedRolesLabel), nil
		}
		if why := unbrought(crd, csv, j.seen[kindCRD+"/"+crd.Name]); why != "" && crd.Labels[v1alpha1.ProvidedRolesLabel] != "true" {
			return why, nil
		}
	}
	return "", nil
}

// unaccounted is why the service account of the operator's group may not open the API; empty when it may, or there is none. While the namespace has no
// group, or several, that is not known.
func (j judgement) unaccounted(ctx context.Context, p provider) (known bool, why string, _ error) {
	if !j.sees(p.csv.Namespace) {
		return false, "", nil
	}
	var groups operatorsv1.OperatorGroupList
	if err := j.client.List(ctx, &groups, client.InNamespace(p.csv.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return false, "", fmt.Errorf("list the OperatorGroups of namespace %s: %w", p.csv.Namespace, err)
	}
	if len(groups.Items) != 1 {
		return false, "", nil
	}
	group := &groups.Items[0]
	if group.Spec.ServiceAccountName == "" {
		return true, "", nil
	}
	missing, err := j.missing(ctx, group, p.apis)
	if err != nil || missing == "" {
		return true, "", err
	}
	return true, fmt.Sprintf("ServiceAccount %s/%s of OperatorGroup %s may not make these ClusterRoles itself: it lacks %s; grant it that, or allow it by the label %s=true on the %s",
		group.Namespace, group.Spec.ServiceAccountName, group.Name, missing, v1alpha1.ProvidedRolesLabel, j.kind), nil
}
