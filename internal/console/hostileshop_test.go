package console

import (
	"net/url"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/internal/ops/preview"
	"fairlead.dev/fairlead/test/must"

	"github.com/blang/semver/v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// evil are texts that a catalog may have anywhere.
var evil = map[string]string{
	"a script":                  `<script>alert(1)</script>`,
	"an element with a handler": `"><img src=x onerror=alert(1)>`,
	"an attribute":              `' onmouseover='alert(1)' style='position:fixed`,
	"the end of a style":        `</style></title></textarea><svg onload=alert(1)>`,
	"a template":                `{{.Form}}{{template "main"}}`,
	"an address":                `javascript:alert(1)`,
	"control characters":        "a\x00b\x1b[31mc\u202ed\r\ne",
	"what is not seen":          unseenText,
	"a long text":               strings.Repeat("long ", 10_000),
	"a long word":               strings.Repeat("x", 50_000),
	"no UTF-8":                  "\xff\xfe<b>",
}

// hostileManifest has a text in each field that it can be in.
func hostileManifest(text string) *packagesv1.PackageManifest {
	many := func(n int) (all []string) {
		for range n {
			all = append(all, text)
		}
		return all
	}
	d := packagesv1.CSVDescription{DisplayName: text, Version: v1alpha1.OperatorVersion{Version: semver.MustParse("1.0.0")}, Provider: v1alpha1.AppLink{Name: text, URL: text},
		Annotations: map[string]string{"description": text, "categories": text, "capabilities": text, "repository": text, "support": text, "containerImage": text, "createdAt": text,
			"operatorframework.io/suggested-namespace": text},
		Keywords: many(3), Maturity: text, LongDescription: text, MinKubeVersion: text,
		InstallModes: []v1alpha1.InstallMode{{Type: v1alpha1.InstallModeType(text), Supported: true}}}
	for range 3 {
		d.Links = append(d.Links, v1alpha1.AppLink{Name: text, URL: text}, v1alpha1.AppLink{Name: text, URL: "https://example.com/" + text[:min(len(text), 20)]})
		d.Maintainers = append(d.Maintainers, v1alpha1.Maintainer{Name: text, Email: text})
		d.CustomResourceDefinitions.Owned = append(d.CustomResourceDefinitions.Owned, v1alpha1.CRDDescription{Name: "x." + text, Kind: text, Version: text, DisplayName: text, Description: text})
		d.CustomResourceDefinitions.Required = append(d.CustomResourceDefinitions.Required, v1alpha1.CRDDescription{Name: "y." + text, Kind: text, Version: text, Description: text})
	}
	m := &packagesv1.PackageManifest{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "evil"}}
	m.Status = packagesv1.PackageManifestStatus{PackageName: "evil", CatalogSource: "samples", CatalogSourceNamespace: "olm", DefaultChannel: text,
		Provider: v1alpha1.AppLink{Name: text}, Deprecation: &packagesv1.Deprecation{Message: text}}
	for i := range 3 {
		channel := text
		if i > 0 {
			channel += strings.Repeat("'", i)
		}
		m.Status.Channels = append(m.Status.Channels, packagesv1.PackageChannel{Name: channel, CurrentCSV: text, CurrentCSVDesc: d, Deprecation: &packagesv1.Deprecation{Message: text},
			Entries: []packagesv1.ChannelEntry{{Name: text, Version: text, Deprecation: &packagesv1.Deprecation{Message: text}}}})
	}
	return m
}

// TestHostileContent: whatever a catalog says, pages show it as text, and are not long.
func TestHostileContent(t *testing.T) {
	for name, text := range evil {
		t.Run(name, func(t *testing.T) {
			v := newShopping(t, hostileManifest(text))
			for _, address := range []string{"/catalog", "/catalog?q=evil", "/package/evil?catalog=olm/samples", "/package/evil?catalog=olm/samples&all=yes", "/install?package=evil&catalog=olm/samples&namespace=ops",
				"/catalog?" + url.Values{"q": {text[:min(len(text), 2000)]}, "provider": {text[:min(len(text), 2000)]}, "category": {text[:min(len(text), 2000)]}}.Encode()} {
				page := v.get(address)
				page.harmless()
				must.Equal(t, "status of "+address, page.status, 200)
				if len(page.text) > 100<<10 {
					t.Errorf("%s has %d bytes", address, len(page.text))
				}
				if strings.Contains(page.text, "<b>") || strings.Contains(page.text, "alert(1)>") && !strings.Contains(page.text, "&gt;") {
					t.Errorf("%s has an element of the catalog", address)
				}
			}
		})
	}
}

// TestHostileAddresses: what an address says is shown as text, too, and leads nowhere else.
func TestHostileAddresses(t *testing.T) {
	v := newShopping(t)
	for name, text := range evil {
		text = text[:min(len(text), 1500)]
		for _, values := range []url.Values{{"package": {text}}, {"package": {"greeter-operator"}, "catalog": {text}}, {"package": {"greeter-operator"}, "catalog": {"samples"}, "namespace": {text}, "version": {text}, "name": {text}, "account": {text}, "config": {text}},
			{"package": {"greeter-operator"}, "catalog": {"olm/samples"}, "namespace": {text}, "channel": {text}, "mode": {text}, "watch": {text}}} {
			page := v.get("/install?" + values.Encode())
			page.harmless()
			if page.status != 200 && page.status != 400 && page.status != 404 && page.status != 502 {
				t.Errorf("%s: status %d of %v", name, page.status, values)
			}
		}
		for _, address := range []string{"/package/" + url.PathEscape(text), "/package/greeter-operator?" + url.Values{"catalog": {text}, "graph": {text}, "namespace": {text}}.Encode(),
			"/package/greeter-operator?" + url.Values{"catalog": {"samples"}, "graph": {text}}.Encode(), "/catalog?" + url.Values{"namespace": {text}, "page": {text}, "catalog": {text}}.Encode()} {
			page := v.get(address)
			if page.status == 301 || page.status == 307 { // of a path that is no path
				continue
			}
			page.harmless()
		}
	}
}

// TestIcons: a picture is served as what it is, and nothing that could do anything.
func TestIcons(t *testing.T) {
	v := newShopping(t)
	const png = "\x89PNG\r\n\x1a\n0000"
	for name, test := range map[string]struct {
		icon *preview.Icon
		want string // its type, or mark for the letter of the package
	}{
		"none":                      {nil, "mark"},
		"PNG":                       {&preview.Icon{MediaType: "image/png", Data: []byte(png)}, "image/png"},
		"PNG that calls itself SVG": {&preview.Icon{MediaType: "image/svg+xml", Data: []byte(png)}, "image/png"},
		"GIF":                       {&preview.Icon{MediaType: "text/html", Data: []byte("GIF89a0000")}, "image/gif"},
		"JPEG":                      {&preview.Icon{MediaType: "image/jpeg", Data: []byte("\xff\xd8\xff\xe0")}, "image/jpeg"},
		"WebP":                      {&preview.Icon{MediaType: "image/webp", Data: []byte("RIFF0000WEBPVP8 ")}, "image/webp"},
		"SVG":                       {&preview.Icon{MediaType: "image/svg+xml", Data: []byte(`<?xml version="1.0" encoding="utf-8"?><!-- a --><svg xmlns="http://www.w3.org/2000/svg"><style>.a{fill:red}</style><a href="#b"/></svg>`)}, svgType},
		"HTML":                      {&preview.Icon{MediaType: "image/png", Data: []byte("<html><script>alert(1)</script>")}, "mark"},
		"HTML after an SVG":         {&preview.Icon{MediaType: "image/svg+xml", Data: []byte(`<svg></svg><script>alert(1)</script>`)}, "mark"},
		"a script":                  {&preview.Icon{MediaType: "image/svg+xml", Data: []byte(`<svg><g><ScRipt>alert(1)</ScRipt></g></svg>`)}, "mark"},
		"a script of a namespace":   {&preview.Icon{MediaType: "image/svg+xml", Data: []byte(`<svg xmlns:x="http://www.w3.org/2000/svg"><x:script>alert(1)</x:script></svg>`)}, "mark"},
		"a handler":                 {&preview.Icon{MediaType: "image/svg+xml", Data: []byte(`<svg onload="alert(1)"></svg>`)}, "mark"},
		"a foreign object":          {&preview.Icon{MediaType: "image/svg+xml", Data: []byte(`<svg><foreignObject><body xmlns="http://www.w3.org/1999/xhtml"/></foreignObject></svg>`)}, "mark"},
		"an address that is code":   {&preview.Icon{MediaType: "image/svg+xml", Data: []byte("<svg><a xlink:href=\"java&#10;script:alert(1)\"/></svg>")}, "mark"},
		"another picture":           {&preview.Icon{MediaType: "image/svg+xml", Data: []byte(`<svg><image href="https://evil.example.com/x.png"/></svg>`)}, "mark"},
		"an animation of a link":    {&preview.Icon{MediaType: "image/svg+xml", Data: []byte(`<svg><a><animate attributeName="href" to="javascript:alert(1)"/></a></svg>`)}, "mark"},
		"entities":                  {&preview.Icon{MediaType: "image/svg+xml", Data: []byte(`<!DOCTYPE svg [<!ENTITY a "<script>alert(1)</script>">]><svg>&a;</svg>`)}, "mark"},
		"a style sheet":             {&preview.Icon{MediaType: "image/svg+xml", Data: []byte(`<?xml-stylesheet href="https://evil.example.com/x.css"?><svg/>`)}, "mark"},
		"too large":                 {&preview.Icon{MediaType: "image/png", Data: []byte(png + strings.Repeat("0", maxPicture))}, "mark"},
		"nothing":                   {&preview.Icon{MediaType: "image/png"}, "mark"},
		"no XML":                    {&preview.Icon{MediaType: "image/svg+xml", Data: []byte(`<svg`)}, "mark"},
	} {
		t.Run(name, func(t *testing.T) {
			pkg := strings.NewReplacer(" ", "-").Replace(strings.ToLower(name))
			v.icons[pkg] = test.icon
			page := v.serve(shopRequest("/icon?catalog=olm/samples&package=" + pkg))
			must.Equal(t, "status", page.Code, 200)
			h := page.Result().Header
			must.Equal(t, "policy", h.Get("Content-Security-Policy"), "default-src 'none'; style-src 'unsafe-inline'; sandbox")
			must.Equal(t, "sniffing", h.Get("X-Content-Type-Options"), "nosniff")
			if want := test.want; want != "mark" {
				must.Equal(t, "type", h.Get("Content-Type"), want)
				must.Equal(t, "content", page.Body.String(), string(test.icon.Data))
			} else {
				must.Equal(t, "type", h.Get("Content-Type"), svgType)
				must.Contain(t, "the mark", page.Body.String(), ">"+strings.ToUpper(pkg[:1])+"</text>")
			}
			r := shopRequest("/icon?catalog=olm/samples&package=" + pkg)
			r.Header.Set("If-None-Match", h.Get("ETag"))
			must.Equal(t, "status of the same once more", v.serve(r).Code, 304)
		})
	}
	must.Contain(t, "the icon of a ClusterCatalog's package", v.serve(shopRequest("/icon?catalog=samples&package=greeter-operator")).Body.String(), "<svg")
}

// TestIconsAreBounded: pictures of many packages do not fill the memory, and the same one is kept once.
func TestIconsAreBounded(t *testing.T) {
	v := newShopping(t)
	large := append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, maxPicture-100)...)
	for i := range 60 {
		data := append([]byte{}, large...)
		data[50] = byte(i)
		v.icons["op"] = &preview.Icon{MediaType: "image/png", Data: data}
		v.serve(shopRequest("/icon?catalog=olm/samples&package=op&namespace=n" + strings.Repeat("x", i)))
	}
	if v.console.front.icons.size > maxPictures || len(v.console.front.icons.pictures) != len(v.console.front.icons.order) || len(v.console.front.icons.pictures) < 20 {
		t.Errorf("%d bytes are kept, in %d pictures", v.console.front.icons.size, len(v.console.front.icons.pictures))
	}
	before := len(v.console.front.icons.pictures)
	for i := range 10 {
		v.serve(shopRequest("/icon?catalog=olm/samples&package=op&namespace=m" + strings.Repeat("x", i)))
	}
	must.Equal(t, "pictures", len(v.console.front.icons.pictures), before)
}
