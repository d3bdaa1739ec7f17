package clusterserviceversion

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/blang/semver/v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// kubeVersionRows compares the version of the cluster with the lowest that the operator works with.
func (f *facts) kubeVersionRows(context.Context) ([]v1alpha1.RequirementStatus, error) {
	if f.csv.Spec.MinKubeVersion == "" {
		return nil, nil
	}
	row := v1alpha1.RequirementStatus{
		Group:   v1alpha1.GroupName,
		Version: v1alpha1.GroupVersion.Version,
		Kind:    v1alpha1.ClusterServiceVersionKind,
		Name:    f.csv.Name,
	}
	server, err := f.c.server.ServerVersion()
	if err != nil {
		row.Status, row.Message = v1alpha1.RequirementStatusReasonPresentNotSatisfied, "the version of the cluster cannot be found out: "+err.Error()
	} else {
		row.Status, row.Message = judgeKubeVersion(f.csv.Spec.MinKubeVersion, server.GitVersion)
	}
	f.unwatched = f.unwatched || row.Status != v1alpha1.RequirementStatusReasonPresent
	return []v1alpha1.RequirementStatus{row}, nil
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

// requiredAPIServiceRows checks the aggregated APIs of others.
func (f *facts) requiredAPIServiceRows(ctx context.Context) ([]v1alpha1.RequirementStatus, error) {
	var rows []v1alpha1.RequirementStatus
	for _, description := range f.csv.RequiredAPIServices() {
		row := apiServiceRow(description)
		live, err := f.readAPIService(ctx, description.APIServiceName())
		if err != nil {
			return nil, err
		}
		row.Status = v1alpha1.RequirementStatusReasonNotPresent
		if live != nil && available(live) {
			served, err := f.serves(schema.GroupVersionKind{Group: description.Group, Version: description.Version, Kind: description.Kind})
			if err != nil {
				return nil, err
			}
			if served {
				row.Status, row.UUID = v1alpha1.RequirementStatusReasonPresent, string(live.UID)
			} else {
				f.lookForDiscovery(live)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// ownedAPIServiceRows checks that the Deployments that are to serve the owned APIs are among those of the strategy.
func (f *facts) ownedAPIServiceRows(context.Context) ([]v1alpha1.RequirementStatus, error) {
	deployments := map[string]bool{}
	for _, d := range f.csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		deployments[d.Name] = true
	}
	var rows []v1alpha1.RequirementStatus
	for _, description := range f.csv.OwnedAPIServices() {
		row := apiServiceRow(description)
		row.Status = v1alpha1.RequirementStatusReasonDeploymentFound
		if !deployments[description.DeploymentName] {
			row.Status = v1alpha1.RequirementStatusReasonDeploymentNotFound
			row.Message = fmt.Sprintf("deploymentName %q is not among the deployments of the install strategy", description.DeploymentName)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func apiServiceRow(description v1alpha1.APIServiceDescription) v1alpha1.RequirementStatus {
	return v1alpha1.RequirementStatus{
		Group:   apiregistrationv1.GroupName,
		Version: "v1",
		Kind:    "APIService",
		Name:    description.APIServiceName(),
	}
}

// nativeAPIRows checks the APIs that the cluster has to serve, whoever provides them.
func (f *facts) nativeAPIRows(context.Context) ([]v1alpha1.RequirementStatus, error) {
	var rows []v1alpha1.RequirementStatus
	for _, api := range f.csv.Spec.NativeAPIs {
		row := v1alpha1.RequirementStatus{Group: api.Group, Version: api.Version, Kind: api.Kind, Name: api.Version + "." + api.Group}
		served, err := f.serves(schema.GroupVersionKind(api))
		if err != nil {
			return nil, err
		}
		if row.Status = v1alpha1.RequirementStatusReasonPresent; !served {
			row.Status, row.Message, f.unwatched = v1alpha1.RequirementStatusReasonNotPresent, "the cluster does not serve this API", true
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// serves says whether the cluster serves a kind. It does not as long as the server of its group does not answer.
func (f *facts) serves(gvk schema.GroupVersionKind) (bool, error) {
	_, err := f.c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) || discovery.IsGroupDiscoveryFailedError(err) || apierrors.IsNotFound(err) || apierrors.IsServiceUnavailable(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look up %s in the APIs of the cluster: %w", gvk, err)
	}
	return true, nil
}

// discoveryDelay is how long the discovery of the cluster may be behind an APIService that has become available, and discoveryInterval how often
// it is asked until then: no event tells of it.
const (
	discoveryDelay    = time.Minute
	discoveryInterval = 2 * time.Second
)

// lookForDiscovery lets the CSV be looked at again, because the cluster does not tell yet that it serves what an APIService says it does.
func (f *facts) lookForDiscovery(live *apiregistrationv1.APIService) {
	f.unwatched = true
	now := f.c.clock.Now()
	for _, c := range live.Status.Conditions {
		if c.Type == apiregistrationv1.Available && now.Sub(c.LastTransitionTime.Time) < discoveryDelay {
			f.again = now.Add(discoveryInterval)
		}
	}
}

// readAPIService reads an APIService from the cache; nil when it does not exist.
func (f *facts) readAPIService(ctx context.Context, name string) (*apiregistrationv1.APIService, error) {
	live := &apiregistrationv1.APIService{}
	err := f.c.client.Get(ctx, client.ObjectKey{Name: name}, live)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read APIService %s: %w", name, err)
	}
	return live, nil
}

// available says whether the cluster reaches the server behind an APIService.
func available(s *apiregistrationv1.APIService) bool {
	for _, c := range s.Status.Conditions {
		if c.Type == apiregistrationv1.Available {
			return c.Status == apiregistrationv1.ConditionTrue
		}
	}
	return false
}
