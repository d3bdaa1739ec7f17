// Package browser uses the web console as people do: a real browser finds an operator, installs, approves, upgrades, understands and removes it, on the
// embedded cluster; every page is checked by the rules of axe-core, and its pictures for docs/console.md are taken. Tests are skipped, with the reason,
// where there is no Chromium. Start reading at story_test.go.
package browser
