package console

import (
	"fmt"
	"net/http"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops"
)

// docLink leads to where the documentation has more.
type docLink struct{ Page, Heading, Name string }

// Address is within the console, so that the page fits the version and is there without a network.
func (d docLink) Address() string {
	if d.Heading == "" {
		return docsPath + d.Page
	}
	return docsPath + d.Page + "#" + d.Heading
}

// docLinks are what pages and errors lead to, by what they are about.
var docLinks = map[string]docLink{
	"approvals": {"installplans.md", "approval", "approving InstallPlans"},
	"console":   {"console.md", "", "the console"},
	"jobs":      {"console.md", "under-way", "what is under way"},
	"operands":  {"console.md", "custom-resources", "custom resources"},
	"catalog":   {"catalogsources.md", "which-namespaces-see-a-catalog", "which namespaces see a catalog"},
	"install":   {"console.md", "install", "installing in the console"},
	"installed": {"status.md", "what-is-shown", "the state of operators"},
	"sources":   {"catalogsources.md", "", "CatalogSources"},
	"health":    {"catalogsources.md", "when-something-is-wrong", "when a CatalogSource does not work"},
	"clustered": {"clustercatalogs.md", "when-something-is-wrong", "when a ClusterCatalog does not work"},
	"why":       {"asking.md", "why-and-why-not-the-reasons", "why and why not, the reasons"},
	"tenants":   {"tenants.md", "", "operators in one namespace, and what its users may see"},
	"doctor":    {"installing.md", "", "the manager on a cluster"},
	"windows":   {"upgrade-windows.md", "what-waits", "upgrades that are held, and upgrade windows"},

	v1alpha1.SubscriptionKind:          {"subscriptions.md", "states", "the states of a Subscription"},
	v1alpha1.ClusterServiceVersionKind: {"clusterserviceversions.md", "", "what the status of a ClusterServiceVersion means"},
	olmv1.ClusterExtensionKind:         {"clusterextensions.md", "what-prevents-progress-and-what-to-do", "what prevents progress of a ClusterExtension"},
	"permissions":                      {"permissions-v1.md", "upgrades-that-ask-for-more", "upgrades that ask for more permissions"},
}

// docOf is a link of the table; a template that asks for another one is wrong.
func docOf(about string) (docLink, error) {
	link, known := docLinks[about]
	if !known {
		return link, fmt.Errorf("no page of the documentation is known for %q", about)
	}
	return link, nil
}

// docOfError is what an error leads to: by its status where that says what is wrong, else by the page that it is of.
func docOfError(status int, path string) string {
	switch status {
	case http.StatusForbidden:
		return "tenants"
	case http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusServiceUnavailable:
		return "doctor"
	}
	for _, place := range []struct{ path, about string }{{"/install", "install"}, {"/catalog", "catalog"}, {"/approvals", "approvals"}, {"/operands", "operands"}, {"/why", "why"},
		{"/sources", "sources"}, {"/installed", "installed"}, {jobsPath, "jobs"}} {
		if under(path, place.path) {
			return place.about
		}
	}
	return "console"
}

// Said is what the verdict on an operator says: its reason, or that of its cause, and the advice.
func (p *operatorPage) Said() string {
	if p.Cause != nil {
		return p.Cause.Reason + "\n" + p.Advice
	}
	return p.Reason + "\n" + p.Advice
}

// Docs is what the verdict on an operator leads to.
func (p *operatorPage) Docs() (about []string) {
	if p.Hold != nil {
		about = append(about, "windows")
	}
	switch standing := p.Listed.Standing(); {
	case standing == ops.Waits && p.Kind == olmv1.ClusterExtensionKind:
		return append(about, "permissions")
	case standing == ops.Waits:
		return append(about, "approvals")
	}
	return append(about, p.Kind)
}
