package console

// storefront is what catalogs offer and how it is installed: the catalog, the page of a package, its picture, and the form with the plan.
type storefront struct {
	*Console
	icons    *icons
	details  *readings[detailKey, *detailed]
	plans    *readings[planKey, *planned]
	markdown *markdown
}

func newStorefront(c *Console) *storefront {
	return &storefront{Console: c, icons: newIcons(c.Clock), details: newReadings[detailKey, *detailed](c.Clock, maxDetails),
		plans: newReadings[planKey, *planned](c.Clock, maxPlans), markdown: newMarkdown()}
}

// parts are its pages.
func (c *storefront) parts() []part {
	return []part{
		{views: []view{{path: "/catalog", template: "catalog", title: "Catalog", load: c.catalog}}, others: c.pictures()},
		{views: []view{{path: "/package/{name}", template: "package", title: "Package", load: c.packageOf}}},
		{views: []view{{path: "/install", template: "install", title: "Install", posted: true, load: c.install}}, actions: []action{{path: "/install/create", do: c.installs, form: "../install"}}},
	}
}
