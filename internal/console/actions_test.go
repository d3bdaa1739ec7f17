package console

import "testing"

// TestLocal: no form leads out of the console.
func TestLocal(t *testing.T) {
	for to, want := range map[string]string{
		"/installed?namespace=shop": "/installed?namespace=shop", "/": "/", "": "/", "installed": "/",
		"https://evil.example.com/": "/", "//evil.example.com": "/", `/\evil.example.com`: "/", "javascript:alert(1)": "/", "/a%00b": "/a%00b", "/\x00": "/", "http:/installed": "/",
	} {
		if got := local(to); got != want {
			t.Errorf("%q leads to %q, want %q", to, got, want)
		}
	}
}

// TestAddressOfAPage: a parameter of an address is changed, and the others are kept.
func TestAddressOfAPage(t *testing.T) {
	for _, test := range []struct{ of, key, value, want string }{
		{"/catalog?q=a+b&page=2", "page", "3", "/catalog?page=3&q=a+b"},
		{"/catalog?page=2", "page", "", "/catalog"},
		{"/catalog", "namespace", "a&b=c", "/catalog?namespace=a%26b%3Dc"},
	} {
		if got := address(test.of, test.key, test.value); got != test.want {
			t.Errorf("%s with %s=%s is %s, want %s", test.of, test.key, test.value, got, test.want)
		}
	}
	got := kept("/catalog?q=kafka&namespace=shop&page=2&category=a&category=b", "namespace")
	if len(got) != 3 || got[0] != (parameter{"category", "a"}) || got[2] != (parameter{"q", "kafka"}) {
		t.Errorf("kept %v", got)
	}
}
