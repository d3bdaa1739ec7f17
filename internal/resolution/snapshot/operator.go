package snapshot

import (
	"encoding/json"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/version"
)

// describe translates an installed operator.
func (n *Namespace) describe(csv *v1alpha1.ClusterServiceVersion) resolution.Operator {
	failForward := len(n.Groups) == 1 && n.Groups[0].FailForward()
	o := resolution.Operator{
		Name:     csv.Name,
		Version:  csv.Spec.Version.Version,
		Replaces: csv.Spec.Replaces,
		Failed:   csv.Status.Phase == v1alpha1.CSVPhaseFailed,
	}
	o.Settled = csv.Status.Phase == v1alpha1.CSVPhaseSucceeded || o.Failed && failForward || n.forsaken(csv)
	if !o.Settled {
		o.Phase = string(csv.Status.Phase)
	}
	if !properties(&o, csv.Annotations[v1alpha1.PropertiesAnnotation]) {
		for _, gvk := range csv.ProvidedAPIs() {
			o.Provides = append(o.Provides, catalog.GVK(gvk))
		}
		for _, gvk := range csv.RequiredAPIs() {
			o.Requires = append(o.Requires, catalog.GVK(gvk))
		}
	}
	if o.Package != "" {
		return o
	}
	// Infer the package of an operator that does not say it: that of the only Subscription which stands for it, else that of the only one in whose catalog
	// and package there is a bundle of its name. Whether it is that bundle is another question; beside one of the package it must not run.
	o.Package = n.onlyPackage(func(sub *v1alpha1.Subscription) bool { return sub.Status.InstalledCSV == csv.Name })
	if o.Package == "" {
		o.Package = n.onlyPackage(func(sub *v1alpha1.Subscription) bool {
			s := n.Source(catalog.Ref{Namespace: sub.Spec.CatalogSourceNamespace, Name: sub.Spec.CatalogSource})
			if s == nil || !s.Healthy() {
				return false
			}
			_, known := s.Served.Index.Bundle(sub.Spec.Package, csv.Name)
			return known
		})
	}
	return o
}

// properties fills in what the properties recorded on a ClusterServiceVersion say; recorded properties replace what its spec
// says. A property that cannot be read is left out: a namespace is not blocked by an annotation.
func properties(o *resolution.Operator, recorded string) bool {
	var list struct {
		Properties []catalog.Property `json:"properties"`
	}
	if recorded == "" || json.Unmarshal([]byte(recorded), &list) != nil {
		return false
	}
	o.Properties = list.Properties
	for _, p := range list.Properties {
		var value struct {
			catalog.GVK
			PackageName  string `json:"packageName"`
			VersionRange string `json:"versionRange"`
		}
		if json.Unmarshal(p.Value, &value) != nil {
			continue
		}
		switch p.Type {
		case catalog.PropertyPackage:
			o.Package = value.PackageName
		case catalog.PropertyGVK:
			o.Provides = append(o.Provides, value.GVK)
		case catalog.PropertyGVKRequired:
			o.Requires = append(o.Requires, value.GVK)
		case catalog.PropertyPackageRequired:
			if r, err := version.ParseRange(value.VersionRange); err == nil {
				o.Packages = append(o.Packages, resolution.PackageRequirement{Package: value.PackageName, Range: r})
			}
		}
	}
	return true
}

// onlyPackage is the package that Subscriptions of a kind ask for; empty when there is none, or more than one.
func (n *Namespace) onlyPackage(of func(*v1alpha1.Subscription) bool) string {
	found := ""
	for i := range n.Subscriptions {
		switch pkg := n.Subscriptions[i].Spec.Package; {
		case pkg == found || !of(&n.Subscriptions[i]):
		case found != "":
			return ""
		default:
			found = pkg
		}
	}
	return found
}
