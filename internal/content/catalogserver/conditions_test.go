package catalogserver

import (
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

func TestConditionsAndRanges(t *testing.T) {
	url := serve(t, map[string]*catalog.Index{"web": yamlIndex(t, webCatalog)}).url
	const all, metas, modified = "/api/v1/all", "/api/v1/metas?schema=olm.channel", "Tue, 14 Nov 2023 22:13:20 GMT"
	tag := func(path, coding string) string {
		answer, _ := do(t, url, request{path: path, header: map[string]string{"Accept-Encoding": coding}})
		return answer.Header.Get("ETag")
	}
	tests := map[string]struct {
		path   string
		header map[string]string
		code   int
		body   string
	}{
		"the same":                   {all, map[string]string{"If-None-Match": tag(all, "")}, 304, ""},
		"the same of a query":        {metas, map[string]string{"If-None-Match": tag(metas, "")}, 304, ""},
		"one of several":             {metas, map[string]string{"If-None-Match": `"x", ` + tag(metas, "")}, 304, ""},
		"any":                        {metas, map[string]string{"If-None-Match": "*"}, 304, ""},
		"a weak one":                 {all, map[string]string{"If-None-Match": "W/" + tag(all, "")}, 304, ""},
		"another":                    {all, map[string]string{"If-None-Match": `"x"`}, 200, lineAll},
		"that of another query":      {metas, map[string]string{"If-None-Match": tag(all, "")}, 200, lineChannel},
		"the same, compressed":       {all, map[string]string{"If-None-Match": tag(all, "gzip"), "Accept-Encoding": "gzip"}, 304, ""},
		"the same query, compressed": {metas, map[string]string{"If-None-Match": tag(metas, "gzip"), "Accept-Encoding": "gzip"}, 304, ""},
		"the compressed one does for nobody else":     {all, map[string]string{"If-None-Match": tag(all, "gzip")}, 200, lineAll},
		"not modified since":                          {all, map[string]string{"If-Modified-Since": modified}, 304, ""},
		"a query, not modified since":                 {metas, map[string]string{"If-Modified-Since": modified}, 304, ""},
		"modified since":                              {metas, map[string]string{"If-Modified-Since": "Tue, 14 Nov 2023 22:13:19 GMT"}, 200, lineChannel},
		"the ETag counts more than the time":          {metas, map[string]string{"If-Modified-Since": modified, "If-None-Match": `"x"`}, 200, lineChannel},
		"only if it is the same":                      {all, map[string]string{"If-Match": tag(all, "")}, 200, lineAll},
		"only if it is the same, and it is not":       {all, map[string]string{"If-Match": `"x"`}, 412, ""},
		"only if a query is the same, and it is not":  {metas, map[string]string{"If-Match": `"x"`, "Accept-Encoding": "gzip"}, 412, ""},
		"only if unmodified since":                    {metas, map[string]string{"If-Unmodified-Since": "Tue, 14 Nov 2023 22:13:19 GMT"}, 412, ""},
		"a part":                                      {all, map[string]string{"Range": "bytes=0-9"}, 206, lineAll[:10]},
		"the end":                                     {all, map[string]string{"Range": "bytes=-5"}, 206, lineAll[len(lineAll)-5:]},
		"all after what is there already":             {all, map[string]string{"Range": "bytes=100-", "If-Range": tag(all, "")}, 206, lineAll[100:]},
		"all, as what is there already is of another": {all, map[string]string{"Range": "bytes=100-", "If-Range": `"x"`}, 200, lineAll},
		"parts are never compressed":                  {all, map[string]string{"Range": "bytes=0-9", "Accept-Encoding": "gzip"}, 206, lineAll[:10]},
		"a part of what was compressed is none":       {all, map[string]string{"Range": "bytes=9-", "Accept-Encoding": "gzip", "If-Range": tag(all, "gzip")}, 200, lineAll},
		"a part beyond the end":                       {all, map[string]string{"Range": "bytes=99999-"}, 416, "invalid range: failed to overlap\n"},
		"queries have no parts":                       {metas, map[string]string{"Range": "bytes=0-9"}, 200, lineChannel},
		"a query for everything has":                  {"/api/v1/metas", map[string]string{"Range": "bytes=0-9"}, 206, lineAll[:10]},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			answer, body := do(t, url, request{path: test.path, header: test.header})
			if answer.StatusCode != test.code || body != test.body {
				t.Errorf("%s %q, want %d %q", answer.Status, body, test.code, test.body)
			}
			must.Equal(t, "coding", answer.Header.Get("Content-Encoding"), "")
			if test.code == 304 && (answer.Header.Get("ETag") == "" || answer.Header.Get("Vary") == "") {
				t.Errorf("headers %v: want ETag and Vary", answer.Header)
			}
		})
	}
}
