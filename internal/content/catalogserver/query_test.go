package catalogserver

import (
	"net/url"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
)

func FuzzParseQuery(f *testing.F) {
	for _, seed := range []string{
		"", "schema=olm.bundle", "schema=a&package=b&name=c", "schema=a&schema=b", "Schema=a", "x=y", "schema=%zz", "a;b", "&&", "=", "name=%00%ff", "name=a+b",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		filter, err := parseQuery(raw)
		if err != nil {
			if filter != (catalog.ObjectFilter{}) || err.Error() == "" || strings.Contains(err.Error(), "\n") {
				t.Fatalf("parseQuery(%q) = %v, %q", raw, filter, err)
			}
			return
		}
		written := url.Values{paramSchema: {filter.Schema}, paramPackage: {filter.Package}, paramName: {filter.Name}}.Encode()
		again, err := parseQuery(written)
		if err != nil || again != filter {
			t.Fatalf("%q was read as %v, which written as %q is read as %v, %v", raw, filter, written, again, err)
		}
	})
}

func FuzzAcceptsGzip(f *testing.F) {
	for _, seed := range []string{"", "gzip", "gzip;q=0", "*;q=0.1", "a,b;q=;gzip", ";;,,"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if acceptsGzip([]string{header}) && !strings.ContainsAny(strings.ToLower(header), "z*") {
			t.Fatalf("%q accepts gzip", header)
		}
	})
}
