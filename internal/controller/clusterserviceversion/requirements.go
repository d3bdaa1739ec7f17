package clusterserviceversion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

const (
	// maxUnmet is how many unmet requirements the message names.
	maxUnmet = 5
	// discoveryDelay is how long the discovery of the cluster may be behind an APIService that has become available, and discoveryInterval how often
	// it is asked until then: no event announces it.
	discoveryDelay    = time.Minute
	discoveryInterval = 2 * time.Second
	// versionNotServed is the message about a CRD that lacks a version.
	versionNotServed = "CRD version not served"
)

// evidence is what the cluster has of that which a CSV requires.
type evidence struct {
	// version is that of the cluster, and versionErr why it is not known.
	version     string
	versionErr  error
	crds        map[string]*apiextensionsv1.CustomResourceDefinition
	providers   map[string][]v1alpha1.ClusterServiceVersion // of the CRDs that lack a version
	apiServices map[string]*apiregistrationv1.APIService
	served      map[schema.GroupVersionKind]bool
	accounts    map[string]accountEvidence
}

// accountEvidence is a service account and what it may do.
type accountEvidence struct {
	account             *metav1.PartialObjectMetadata
	cluster, namespaced []rbacv1.PolicyRule
}

// requirements is the outcome of all requirement checks.
type requirements struct {
	rows []v1alpha1.RequirementStatus
	// unwatched is whether something is missing whose arrival no event announces, and again when it may be there.
	unwatched bool
	again     time.Time
}

// crds reads the CRDs that the CSV owns or needs.
func (o *observer) crds(ctx context.Context) (map[string]*apiextensionsv1.CustomResourceDefinition, error) {
	out := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, description := range o.csv.AllCRDs() {
		crd, err := o.crd(ctx, description.Name)
		if err != nil {
			return nil, err
		}
		out[description.Name] = crd
	}
	return out, nil
}

// crd reads a CRD, without its schemas; nil when it does not exist.
func (o *observer) crd(ctx context.Context, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	return read[*apiextensionsv1.CustomResourceDefinition](ctx, o.cache, key("", name), client.UnsafeDisableDeepCopy)
}

// apiService reads an APIService; nil when it does not exist.
func (o *observer) apiService(ctx context.Context, name string) (*apiregistrationv1.APIService, error) {
	return read[*apiregistrationv1.APIService](ctx, o.cache, key("", name))
}

// evidence reads what the CSV requires.
func (o *observer) evidence(ctx context.Context) (*evidence, error) {
	e := &evidence{providers: map[string][]v1alpha1.ClusterServiceVersion{}, apiServices: map[string]*apiregistrationv1.APIService{},
		served: map[schema.GroupVersionKind]bool{}, accounts: map[string]accountEvidence{}}
	if o.csv.Spec.MinKubeVersion != "" {
		if server, err := o.server.ServerVersion(); err != nil {
			e.versionErr = err
		} else {
			e.version = server.GitVersion
		}
	}
	var err error
	if e.crds, err = o.crds(ctx); err != nil {
		return nil, err
	}
	for _, description := range o.csv.AllCRDs() {
		if crd := e.crds[description.Name]; crd != nil && !served(crd, description.Version) && o.csv.OwnsCRD(crd.Name) {
			if e.providers[crd.Name], err = o.providers(ctx, crd.Name); err != nil {
				return nil, err
			}
		}
	}
	kinds := make([]schema.GroupVersionKind, 0, len(o.csv.Spec.NativeAPIs))
	for _, api := range o.csv.Spec.NativeAPIs {
		kinds = append(kinds, schema.GroupVersionKind(api))
	}
	for _, description := range o.csv.RequiredAPIServices() {
		live, err := o.apiService(ctx, description.APIServiceName())
		if err != nil {
			return nil, err
		}
		if e.apiServices[description.APIServiceName()] = live; live != nil && available(live) {
			kinds = append(kinds, apiKind(description))
		}
	}
	for _, kind := range kinds {
		if e.served[kind], err = o.serves(kind); err != nil {
			return nil, err
		}
	}
	for _, name := range accountNames(o.csv.Spec.InstallStrategy.StrategySpec) {
		var account accountEvidence
		if err := account.read(ctx, o, name); err != nil {
			return nil, err
		}
		e.accounts[name] = account
	}
	return e, nil
}

// read reads a service account of the namespace and, where it exists, the rules that it holds by way of all bindings.
func (e *accountEvidence) read(ctx context.Context, o *observer, name string) (err error) {
	e.account, err = o.metadata(ctx, corev1.SchemeGroupVersion.WithKind("ServiceAccount"), key(o.csv.Namespace, name))
	if err != nil || e.account == nil {
		return err
	}
	for _, subject := range subjectsOf(o.csv.Namespace, name) {
		by, of := client.MatchingFields{indexBySubject: subjectKey(subject)}, fmt.Sprintf(" of %s %s", subject.Kind, subject.Name)
		var cluster rbacv1.ClusterRoleBindingList
		if err := list(ctx, o.cache, &cluster, "the ClusterRoleBindings"+of, by); err != nil {
			return err
		}
		for i := range cluster.Items {
			if err := e.add(ctx, o, &e.cluster, "", &cluster.Items[i], cluster.Items[i].RoleRef); err != nil {
				return err
			}
		}
		var namespaced rbacv1.RoleBindingList
		if err := list(ctx, o.cache, &namespaced, "the RoleBindings"+of+" in namespace "+o.csv.Namespace, by, client.InNamespace(o.csv.Namespace)); err != nil {
			return err
		}
		for i := range namespaced.Items {
			if err := e.add(ctx, o, &e.namespaced, o.csv.Namespace, &namespaced.Items[i], namespaced.Items[i].RoleRef); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds the rules of the role that a binding refers to: none where the role does not exist, or one of both belongs to another CSV.
func (e *accountEvidence) add(ctx context.Context, o *observer, rules *[]rbacv1.PolicyRule, namespace string, binding metav1.Object, ref rbacv1.RoleRef) error {
	if ownedByOthers(binding, o.csv) {
		return nil
	}
	if ref.Kind == "Role" {
		role, err := read[*rbacv1.Role](ctx, o.cache, key(namespace, ref.Name), client.UnsafeDisableDeepCopy)
		if err == nil && role != nil && !ownedByOthers(role, o.csv) {
			*rules = append(*rules, role.Rules...)
		}
		return err
	}
	role, err := read[*rbacv1.ClusterRole](ctx, o.cache, key("", ref.Name), client.UnsafeDisableDeepCopy)
	if err == nil && role != nil && !ownedByOthers(role, o.csv) {
		*rules = append(*rules, role.Rules...)
	}
	return err
}

// check judges everything that a CSV requires, in the order of the rows.
func (e *evidence) check(ctx context.Context, chain *chain, now time.Time) (*requirements, error) {
	csv, out := chain.csv, &requirements{}
	if csv.Spec.MinKubeVersion != "" {
		row := v1alpha1.RequirementStatus{Group: v1alpha1.GroupName, Version: v1alpha1.GroupVersion.Version, Kind: v1alpha1.ClusterServiceVersionKind, Name: csv.Name}
		if e.versionErr != nil {
			row.Status, row.Message = v1alpha1.RequirementStatusReasonPresentNotSatisfied, "the version of the cluster cannot be found out: "+e.versionErr.Error()
		} else {
			row.Status, row.Message = judgeKubeVersion(csv.Spec.MinKubeVersion, e.version)
		}
		out.unwatched = row.Status != v1alpha1.RequirementStatusReasonPresent
		out.rows = append(out.rows, row)
	}
	for _, description := range csv.AllCRDs() {
		out.rows = append(out.rows, e.crdRow(chain, description))
	}
	for _, description := range csv.RequiredAPIServices() {
		out.rows = append(out.rows, e.apiServiceRow(out, description, now))
	}
	for _, description := range csv.OwnedAPIServices() {
		row := v1alpha1.RequirementStatus{Group: apiregistrationv1.GroupName, Version: "v1", Kind: "APIService", Name: description.APIServiceName()}
		row.Status = v1alpha1.RequirementStatusReasonDeploymentFound
		if !slices.ContainsFunc(csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs, func(d v1alpha1.StrategyDeploymentSpec) bool { return d.Name == description.DeploymentName }) {
			row.Status = v1alpha1.RequirementStatusReasonDeploymentNotFound
			row.Message = fmt.Sprintf("deploymentName %q is not among the deployments of the install strategy", description.DeploymentName)
		}
		out.rows = append(out.rows, row)
	}
	for _, api := range csv.Spec.NativeAPIs {
		row := v1alpha1.RequirementStatus{Group: api.Group, Version: api.Version, Kind: api.Kind, Name: api.Version + "." + api.Group, Status: v1alpha1.RequirementStatusReasonPresent}
		if !e.served[schema.GroupVersionKind(api)] {
			row.Status, row.Message, out.unwatched = v1alpha1.RequirementStatusReasonNotPresent, "the cluster does not serve this API", true
		}
		out.rows = append(out.rows, row)
	}
	compared := &comparing{left: maxComparisons}
	for _, name := range accountNames(csv.Spec.InstallStrategy.StrategySpec) {
		row, err := e.accounts[name].row(ctx, compared, csv, name)
		if err != nil {
			return nil, err
		}
		out.rows = append(out.rows, row)
	}
	return out, nil
}

// crdRow judges an owned or required CRD.
func (e *evidence) crdRow(chain *chain, description v1alpha1.CRDDescription) v1alpha1.RequirementStatus {
	csv, crd := chain.csv, e.crds[description.Name]
	row := v1alpha1.RequirementStatus{Group: apiextensionsv1.GroupName, Version: "v1", Kind: "CustomResourceDefinition", Name: description.Name}
	row.Status, row.Message = judgeCRD(csv, description, crd, chain)
	if row.Status == v1alpha1.RequirementStatusReasonPresent {
		row.UUID = string(crd.UID)
	}
	if row.Message != versionNotServed || !csv.OwnsCRD(description.Name) {
		return row
	}
	var others []string
	for i := range e.providers[description.Name] {
		other := &e.providers[description.Name][i]
		for _, theirs := range other.Spec.CustomResourceDefinitions.Owned {
			if theirs.Name == description.Name && theirs.Version != description.Version && other.Namespace != csv.Namespace {
				others = append(others, fmt.Sprintf("ClusterServiceVersion %s/%s owns it too, with %s", other.Namespace, other.Name, theirs.Version))
			}
		}
	}
	if len(others) > 0 {
		row.Message += fmt.Sprintf(": %s, while ClusterServiceVersion %s/%s needs %s, and a cluster has one definition for all namespaces",
			slices.Min(others), csv.Namespace, csv.Name, description.Version)
	}
	return row
}

// apiServiceRow judges an aggregated API of another server.
func (e *evidence) apiServiceRow(out *requirements, description v1alpha1.APIServiceDescription, now time.Time) v1alpha1.RequirementStatus {
	row := v1alpha1.RequirementStatus{Group: apiregistrationv1.GroupName, Version: "v1", Kind: "APIService", Name: description.APIServiceName()}
	row.Status = v1alpha1.RequirementStatusReasonNotPresent
	live := e.apiServices[row.Name]
	if live == nil || !available(live) {
		return row
	}
	if e.served[apiKind(description)] {
		row.Status, row.UUID = v1alpha1.RequirementStatusReasonPresent, string(live.UID)
		return row
	}
	// The cluster does not announce yet that it serves what the APIService promises.
	out.unwatched = true
	for _, c := range live.Status.Conditions {
		if c.Type == apiregistrationv1.Available && now.Sub(c.LastTransitionTime.Time) < discoveryDelay {
			out.again = now.Add(discoveryInterval)
		}
	}
	return row
}

// row judges whether the service account exists and holds the rules that the operator asks for, wherever they come from. It has a dependent for
// each rule. A rule that is too large to be compared is not satisfied, and the row reports so.
func (e accountEvidence) row(ctx context.Context, compared *comparing, csv *v1alpha1.ClusterServiceVersion, name string) (v1alpha1.RequirementStatus, error) {
	row := v1alpha1.RequirementStatus{Version: "v1", Kind: "ServiceAccount", Name: name}
	switch {
	case e.account == nil:
		row.Status, row.Message = v1alpha1.RequirementStatusReasonNotPresent, "Service account does not exist"
		return row, nil
	case ownedByOthers(e.account, csv):
		row.Status, row.Message = v1alpha1.RequirementStatusReasonPresentNotSatisfied, "Service account is owned by another ClusterServiceVersion"
	default:
		row.Status, row.UUID = v1alpha1.RequirementStatusReasonPresent, string(e.account.UID)
	}
	strategy := csv.Spec.InstallStrategy.StrategySpec
	for _, part := range []struct {
		prefix  string
		asked   []v1alpha1.StrategyDeploymentPermissions
		granted []rbacv1.PolicyRule
	}{
		{"namespaced rule:", strategy.Permissions, slices.Concat(e.namespaced, e.cluster)},
		{"cluster rule:", strategy.ClusterPermissions, e.cluster},
	} {
		for _, permission := range part.asked {
			if accountName(permission) != name {
				continue
			}
			for _, rule := range permission.Rules {
				dependent := v1alpha1.DependentStatus{Group: rbacv1.GroupName, Version: "v1", Kind: "PolicyRule",
					Status: v1alpha1.DependentStatusReasonSatisfied, Message: part.prefix + ruleText(rule)}
				ok, err := compared.grants(ctx, part.granted, rule)
				if errors.As(err, &tooManyError{}) {
					dependent.Message += ": " + err.Error()
				} else if err != nil {
					return row, fmt.Errorf("compare the permissions of service account %s with what ClusterServiceVersion asks for: %w", name, err)
				}
				if !ok {
					dependent.Status = v1alpha1.DependentStatusReasonNotSatisfied
					if row.Status == v1alpha1.RequirementStatusReasonPresent {
						row.Status, row.Message = v1alpha1.RequirementStatusReasonPresentNotSatisfied, "Service account lacks permissions"
					}
				}
				row.Dependents = append(row.Dependents, dependent)
			}
		}
	}
	return row, nil
}

// notMet names the requirements that are not met, and what is wrong with each.
func (r *requirements) notMet() finding {
	var unmet []string
	for _, row := range r.rows {
		if row.Status == v1alpha1.RequirementStatusReasonPresent || row.Status == v1alpha1.RequirementStatusReasonDeploymentFound {
			continue
		}
		text := fmt.Sprintf("%s %s: %s", row.Kind, row.Name, row.Status)
		if row.Message != "" {
			text += ", " + row.Message
		}
		if i := slices.IndexFunc(row.Dependents, func(d v1alpha1.DependentStatus) bool { return d.Status != v1alpha1.DependentStatusReasonSatisfied }); i >= 0 {
			text += ": " + row.Dependents[i].Message
		}
		unmet = append(unmet, text)
	}
	if rest := len(unmet) - maxUnmet; rest > 0 {
		unmet = append(unmet[:maxUnmet], fmt.Sprintf("and %d more, see status.requirementStatus", rest))
	}
	return finding{holds: len(unmet) > 0, detail: strings.Join(unmet, "; ")}
}

// judgeKubeVersion compares without the leading v, and without what distributions append to the server's version.
func judgeKubeVersion(minimum, server string) (v1alpha1.StatusReason, string) {
	text, _, _ := strings.Cut(strings.TrimPrefix(server, "v"), "-")
	have, err := semver.Parse(text)
	if err != nil {
		return v1alpha1.RequirementStatusReasonPresentNotSatisfied, fmt.Sprintf("the version %q of the cluster cannot be read: %v", server, err)
	}
	want, err := semver.Parse(strings.TrimPrefix(minimum, "v"))
	if err != nil {
		return v1alpha1.RequirementStatusReasonPresentNotSatisfied, fmt.Sprintf("minKubeVersion %q cannot be read: %v", minimum, err)
	}
	if have.LT(want) {
		return v1alpha1.RequirementStatusReasonPresentNotSatisfied, fmt.Sprintf("CSV version requirement not met: minKubeVersion (%s) > server version (%s)", want, have)
	}
	return v1alpha1.RequirementStatusReasonPresent, fmt.Sprintf("server version (%s) meets minKubeVersion (%s)", server, minimum)
}

// judgeCRD reports whether a CRD meets the description, and why not.
func judgeCRD(csv *v1alpha1.ClusterServiceVersion, description v1alpha1.CRDDescription, crd *apiextensionsv1.CustomResourceDefinition, chain *chain) (v1alpha1.StatusReason, string) {
	if crd == nil {
		return v1alpha1.RequirementStatusReasonNotPresent, "CRD is not present"
	}
	if older := broughtByOlder(csv, crd, chain); csv.OwnsCRD(crd.Name) && len(older) > 0 {
		return v1alpha1.RequirementStatusReasonPresentNotSatisfied, "CRD installed alongside other CSV(s): " + strings.Join(older, ", ")
	}
	if !served(crd, description.Version) {
		return v1alpha1.RequirementStatusReasonNotPresent, versionNotServed
	}
	if apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) && apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.NamesAccepted) {
		return v1alpha1.RequirementStatusReasonPresent, "CRD is served by the cluster"
	}
	for _, c := range crd.Status.Conditions {
		decides := c.Type == apiextensionsv1.Established || c.Type == apiextensionsv1.NamesAccepted
		if decides && c.Status == apiextensionsv1.ConditionFalse && c.Message != "" {
			return v1alpha1.RequirementStatusReasonNotAvailable, fmt.Sprintf("CRD is present but the cluster does not serve it: %s", c.Message)
		}
	}
	return v1alpha1.RequirementStatusReasonNotAvailable, "CRD is present but the cluster does not serve it yet"
}

func served(crd *apiextensionsv1.CustomResourceDefinition, version string) bool {
	return slices.ContainsFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name == version && v.Served
	})
}

// broughtByOlder lists the CSVs that brought the CRD, as its annotations record, and that this CSV replaces: the CRD is
// then of an older version of the operator. A CRD that this CSV brought as well is up to date.
func broughtByOlder(csv *v1alpha1.ClusterServiceVersion, crd *apiextensionsv1.CustomResourceDefinition, chain *chain) []string {
	var older []string
	for name, value := range crd.Annotations {
		if !strings.HasPrefix(name, v1alpha1.InstalledAlongsideAnnotationPrefix) {
			continue
		}
		namespace, by, _ := strings.Cut(value, "/")
		if namespace != csv.Namespace {
			continue
		}
		if by == csv.Name {
			return nil
		}
		if _, exists := chain.byName[by]; exists && chain.replaces(csv.Name, by) {
			older = append(older, by)
		}
	}
	slices.Sort(older)
	return older
}

// available reports whether the cluster reaches the server behind an APIService.
func available(s *apiregistrationv1.APIService) bool {
	for _, c := range s.Status.Conditions {
		if c.Type == apiregistrationv1.Available {
			return c.Status == apiregistrationv1.ConditionTrue
		}
	}
	return false
}

func apiKind(d v1alpha1.APIServiceDescription) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: d.Group, Version: d.Version, Kind: d.Kind}
}

// defaultAccount is meant where a permission names no service account.
const defaultAccount = "default"

// accountNames are the service accounts that the permissions are for, sorted.
func accountNames(strategy v1alpha1.StrategyDetailsDeployment) []string {
	var names []string
	for _, permission := range slices.Concat(strategy.Permissions, strategy.ClusterPermissions) {
		names = append(names, accountName(permission))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func accountName(permission v1alpha1.StrategyDeploymentPermissions) string {
	if permission.ServiceAccountName == "" {
		return defaultAccount
	}
	return permission.ServiceAccountName
}

// ownedByOthers reports whether an object belongs to ClusterServiceVersions, but not to this one. An object that belongs to
// none can be used by all.
func ownedByOthers(object metav1.Object, csv *v1alpha1.ClusterServiceVersion) bool {
	others := false
	for _, owner := range object.GetOwnerReferences() {
		if owner.Kind != v1alpha1.ClusterServiceVersionKind {
			continue
		}
		if owner.Name == csv.Name && owner.UID == csv.UID {
			return false
		}
		others = true
	}
	return others
}

func ruleText(rule rbacv1.PolicyRule) string {
	text, err := json.Marshal(rule)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// checkStrategy finds what no cluster can satisfy.
func checkStrategy(csv *v1alpha1.ClusterServiceVersion) error {
	if !labelled(csv) {
		return fmt.Errorf("the name of the ClusterServiceVersion has %d characters: as it is the value of labels, it may have %d", len(csv.Name), validation.LabelValueMaxLength)
	}
	strategy := csv.Spec.InstallStrategy
	if strategy.StrategyName != v1alpha1.InstallStrategyNameDeployment {
		return fmt.Errorf("spec.install.strategy %q is not known: the only one is %q", strategy.StrategyName, v1alpha1.InstallStrategyNameDeployment)
	}
	for _, crd := range csv.AllCRDs() {
		if _, _, err := crd.PluralAndGroup(); err != nil {
			return err
		}
	}
	if err := bundle.CheckOwned(csv); err != nil {
		return err
	}
	names := map[string]bool{}
	for _, d := range strategy.StrategySpec.DeploymentSpecs {
		if d.Name == "" || names[d.Name] {
			return fmt.Errorf("spec.install.spec.deployments names %q more than once, or not at all", d.Name)
		}
		names[d.Name] = true
	}
	if _, err := bundle.Services(csv); err != nil {
		return err
	}
	for _, permission := range slices.Concat(strategy.StrategySpec.Permissions, strategy.StrategySpec.ClusterPermissions) {
		for _, rule := range permission.Rules {
			problem := ""
			switch {
			case len(rule.Verbs) == 0:
				problem = "it has no verbs"
			case len(rule.Resources) > 0 && len(rule.NonResourceURLs) > 0:
				problem = "it mixes resources and nonResourceURLs, which have to be two rules"
			default:
				continue
			}
			return fmt.Errorf("a rule for service account %q: %s: %s", permission.ServiceAccountName, problem, ruleText(rule))
		}
	}
	return nil
}
