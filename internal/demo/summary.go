package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops"

	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// summarise reads from the cluster what came of it all, and shows it.
func (d *Demo) summarise(ctx context.Context) error {
	versions, err := discovery.NewDiscoveryClientForConfig(d.cluster.RESTConfig())
	if err != nil {
		return fmt.Errorf("connect to the cluster: %w", err)
	}
	version, err := versions.ServerVersion()
	if err != nil {
		return fmt.Errorf("ask for the version of the cluster: %w", err)
	}
	d.Result.KubernetesVersion = version.GitVersion
	if d.Result.Operators, err = d.operators(ctx); err != nil {
		return err
	}
	var plans v1alpha1.InstallPlanList
	if err := d.client.List(ctx, &plans, client.InNamespace(namespace)); err != nil {
		return fmt.Errorf("list the InstallPlans of namespace %s: %w", namespace, err)
	}
	for i := range plans.Items {
		text, err := json.Marshal(&plans.Items[i])
		if err != nil {
			return fmt.Errorf("measure InstallPlan %s: %w", plans.Items[i].Name, err)
		}
		d.Result.LargestInstallPlanBytes = max(d.Result.LargestInstallPlanBytes, len(text))
	}
	d.Result.MemoryBytes = d.cluster.Status().MemoryBytes
	report, err := ops.InspectNamespace(ctx, d.client, namespace)
	if err != nil {
		return err
	}
	var tree strings.Builder
	if err := report.Write(&tree); err != nil {
		return err
	}
	d.show.Title("How it stands")
	d.show.Text(tree.String())
	return nil
}

// operators lists what runs, with the time from the creation of the Subscriptions, or the publication of the newer catalog, to
// success.
func (d *Demo) operators(ctx context.Context) ([]Operator, error) {
	var subscriptions v1alpha1.SubscriptionList
	if err := d.client.List(ctx, &subscriptions, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list the Subscriptions of namespace %s: %w", namespace, err)
	}
	var operators []Operator
	for _, sub := range subscriptions.Items {
		var csv v1alpha1.ClusterServiceVersion
		if err := d.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: sub.Status.InstalledCSV}, &csv); err != nil {
			return nil, fmt.Errorf("get ClusterServiceVersion %s: %w", sub.Status.InstalledCSV, err)
		}
		operators = append(operators, Operator{Name: csv.Name, Package: sub.Spec.Package, Version: csv.Spec.Version.String(),
			Seconds: d.succeeded[csv.Name].Seconds()})
	}
	slices.SortFunc(operators, func(a, b Operator) int { return cmp.Compare(a.Name, b.Name) })
	return operators, nil
}
