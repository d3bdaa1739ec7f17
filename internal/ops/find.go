package ops

import (
	"context"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// find looks for what a name stands for: a Subscription, if there is one, and its ClusterServiceVersions, the newest first. In the middle of
// an upgrade there are several.
func find(ctx context.Context, reader client.Reader, o UninstallOptions) (*v1alpha1.Subscription, []*v1alpha1.ClusterServiceVersion, error) {
	var subs v1alpha1.SubscriptionList
	var all v1alpha1.ClusterServiceVersionList
	for _, list := range []client.ObjectList{&subs, &all} {
		if err := reader.List(ctx, list, client.InNamespace(o.Namespace)); err != nil {
			return nil, nil, fmt.Errorf("read namespace %s: %w", o.Namespace, err)
		}
	}
	all.Items = slices.DeleteFunc(all.Items, func(csv v1alpha1.ClusterServiceVersion) bool { return csv.IsCopied() })
	of := func(s *v1alpha1.Subscription) []*v1alpha1.ClusterServiceVersion {
		return connected(all.Items, s.Status.InstalledCSV, s.Status.CurrentCSV)
	}
	for _, match := range []func(s *v1alpha1.Subscription) bool{
		func(s *v1alpha1.Subscription) bool { return s.Name == o.Name },
		func(s *v1alpha1.Subscription) bool { return s.Spec != nil && s.Spec.Package == o.Name },
		func(s *v1alpha1.Subscription) bool {
			return slices.ContainsFunc(of(s), func(csv *v1alpha1.ClusterServiceVersion) bool { return csv.Name == o.Name })
		},
	} {
		for i := range subs.Items {
			if s := &subs.Items[i]; match(s) {
				return s, of(s), nil
			}
		}
	}
	csvs := connected(all.Items, o.Name)
	if len(csvs) == 0 {
		return nil, nil, &messages.AskedError{Lack: messages.NotThere, Cause: errNone,
			Text:    fmt.Sprintf("uninstall %s: there is none of that name in namespace %s: neither a Subscription, a package that one asks for, nor a ClusterServiceVersion", o.Name, o.Namespace),
			Command: fmt.Sprintf("without --api v0 a ClusterExtension is searched, too; fairlead status -n %s lists what there is", o.Namespace)}
	}
	return nil, csvs, nil
}

// connected are the ClusterServiceVersions of a namespace that have one of some names, and those that replace one of them or are replaced by
// one, over any number of steps: versions of one operator, which are there together while it is upgraded. Each comes before those it
// replaces, so that none becomes what is installed again while they are removed.
func connected(all []v1alpha1.ClusterServiceVersion, names ...string) []*v1alpha1.ClusterServiceVersion {
	is := map[string]bool{}
	for i := range all {
		is[all[i].Name] = slices.Contains(names, all[i].Name)
	}
	for more := true; more; {
		more = false
		for i := range all {
			name, replaced := all[i].Name, all[i].Spec.Replaces
			if there, ok := is[replaced]; ok && there != is[name] {
				is[name], is[replaced], more = true, true, true
			}
		}
	}
	var out []*v1alpha1.ClusterServiceVersion
	for i := range all {
		if !is[all[i].Name] {
			continue
		}
		at := slices.IndexFunc(out, func(o *v1alpha1.ClusterServiceVersion) bool { return replaces(all, &all[i], o.Name) })
		if at < 0 {
			at = len(out)
		}
		out = slices.Insert(out, at, &all[i])
	}
	return out
}

// replaces tells whether a ClusterServiceVersion replaces the one of a name, over any number of steps.
func replaces(all []v1alpha1.ClusterServiceVersion, csv *v1alpha1.ClusterServiceVersion, name string) bool {
	for range all { // which ends where they replace each other in a circle
		if csv.Spec.Replaces == name {
			return true
		}
		i := slices.IndexFunc(all, func(o v1alpha1.ClusterServiceVersion) bool { return o.Name == csv.Spec.Replaces })
		if i < 0 {
			return false
		}
		csv = &all[i]
	}
	return false
}
