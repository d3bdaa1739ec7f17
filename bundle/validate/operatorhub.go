package validate

import (
	"encoding/json"
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strings"
)

// The standard values of annotations that catalogs show.
var (
	standardCapabilities = []string{"Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot"}
	standardCategories   = []string{
		"AI/Machine Learning", "Application Runtime", "Big Data", "Cloud Provider", "Database", "Developer Tools", "Integration & Delivery",
		"Logging & Tracing", "Modernization & Migration", "Monitoring", "Networking", "Observability", "OpenShift Optional", "Security",
		"Storage", "Streaming & Messaging",
	}
	iconTypes = []string{"image/gif", "image/jpeg", "image/png", "image/svg+xml"}
)

// checkOperatorHub checks what the public catalog of operators shows.
func checkOperatorHub(r recorder) {
	if r.csv == nil {
		return
	}
	at := r.csvPlace()
	if strings.TrimSpace(r.csv.Spec.Provider.Name) == "" {
		r.err(RuleProvider, at.in("spec.provider.name"), "csv.Spec.Provider.Name not specified", "name who provides the operator")
	}
	for i, m := range r.csv.Spec.Maintainers {
		field := at.in("spec.maintainers[%d]", i)
		if m.Name == "" || m.Email == "" {
			r.err(RuleMaintainer, field, "a maintainer needs name and email", "add both")
			continue
		}
		if _, err := mail.ParseAddress(m.Email); err != nil {
			r.err(RuleMaintainer, field, fmt.Sprintf("%q is not an email address: %v", m.Email, err), "correct the address")
		}
	}
	for i, link := range r.csv.Spec.Links {
		field := at.in("spec.links[%d]", i)
		if link.Name == "" || link.URL == "" {
			r.err(RuleLink, field, "a link needs name and url", "add both")
			continue
		}
		if _, err := url.ParseRequestURI(link.URL); err != nil {
			r.err(RuleLink, field, fmt.Sprintf("%q is not an address: %v", link.URL, err), "write it like https://example.com")
		}
	}
	if v := r.csv.Spec.Version; v.Major == 0 && v.Minor == 0 && v.Patch == 0 && len(v.Pre)+len(v.Build) == 0 {
		r.err(RuleVersion, at.in("spec.version"), "csv.Spec.Version must be set", "set the version of the operator")
	}
	icons, field := r.csv.Spec.Icon, at.in("spec.icon")
	switch {
	case len(icons) == 0:
		r.warn(RuleIcon, field, "there is no icon", "add one as GIF, JPEG, PNG or SVG")
	case len(icons) > 1:
		r.err(RuleIcon, field, fmt.Sprintf("there has to be one icon, and there are %d", len(icons)), "keep one of them")
	case icons[0].Data == "" || icons[0].MediaType == "":
		r.err(RuleIcon, field, "an icon needs base64data and mediatype", "add both")
	case !slices.Contains(iconTypes, icons[0].MediaType):
		r.err(RuleIcon, field, fmt.Sprintf("%q is not a media type of icons", icons[0].MediaType), "use one of "+strings.Join(iconTypes, ", "))
	}
	checkRemovedAPIs(r)
}

// checkCapabilities and checkCategories check annotations only where they are there.
func checkCapabilities(r recorder) {
	const key = "capabilities"
	if r.csv == nil {
		return
	}
	if value, ok := r.csv.Annotations[key]; ok && !slices.Contains(standardCapabilities, value) {
		r.err(RuleCapabilities, r.csvPlace().in("metadata.annotations[%s]", key), fmt.Sprintf("%q is not a standard capability level", value),
			"use one of "+strings.Join(standardCapabilities, ", "))
	}
}

func checkCategories(r recorder) {
	const key = "categories"
	if r.csv == nil {
		return
	}
	known := standardCategories
	if len(r.options.Categories) > 0 {
		known = r.options.Categories
	}
	value, ok := r.csv.Annotations[key]
	if !ok {
		return
	}
	for _, category := range strings.Split(value, ",") {
		if category = strings.TrimSpace(category); !slices.Contains(known, category) {
			r.err(RuleCategories, r.csvPlace().in("metadata.annotations[%s]", key), fmt.Sprintf("%q is not a standard category", category),
				"use some of "+strings.Join(known, ", "))
		}
	}
}

// checkOperatorHubV1 is the older form of three validators.
func checkOperatorHubV1(r recorder) {
	r.warn(RuleDeprecated, place{}, "the validator operatorhub/v1 is deprecated", "select operatorhub/v2, standardcapabilities and standardcategories")
	checkOperatorHub(r)
	checkCapabilities(r)
	checkCategories(r)
}

// ParseCategories reads categories that take the place of the standard ones: {"categories": […]}.
func ParseCategories(data []byte) ([]string, error) {
	var file struct {
		Categories []string `json:"categories"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("read categories: %w; write them as {\"categories\": [\"…\"]}", err)
	}
	return file.Categories, nil
}
