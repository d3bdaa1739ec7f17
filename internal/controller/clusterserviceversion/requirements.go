package clusterserviceversion

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/blang/semver/v4"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/tenancy"
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

// requirements is the outcome of all requirement checks.
type requirements struct {
	rows []v1alpha1.RequirementStatus
	// unwatched is whether something is missing whose arrival no event announces, and again when it may be there.
	unwatched bool
	again     time.Time
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
			if cmp.Or(permission.ServiceAccountName, defaultAccount) != name {
				continue
			}
			for _, rule := range permission.Rules {
				dependent := v1alpha1.DependentStatus{Group: rbacv1.GroupName, Version: "v1", Kind: "PolicyRule",
					Status: v1alpha1.DependentStatusReasonSatisfied, Message: part.prefix + ruleText(rule)}
				ok, err := compared.grants(ctx, part.granted, rule)
				if errors.Is(err, errTooMany) {
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
	detail := strings.Join(safetext.First(unmet, maxUnmet, "and %d more, see status.requirementStatus"), "; ")
	return finding{holds: len(unmet) > 0, detail: detail}
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
	// The CSVs that brought the CRD, as its annotations record, and that this CSV replaces: the CRD is then of an older version of the operator. One
	// that this CSV brought as well is up to date.
	var older []string
	bringers := tenancy.Bringers(crd)
	for _, by := range bringers {
		if by.Namespace == csv.Namespace && chain.byName[by.Name] != nil && chain.replaces(csv.Name, by.Name) {
			older = append(older, by.Name)
		}
	}
	if csv.OwnsCRD(crd.Name) && len(older) > 0 && !slices.Contains(bringers, key(csv.Namespace, csv.Name)) {
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

func ruleText(rule rbacv1.PolicyRule) string {
	text, err := json.Marshal(rule)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
