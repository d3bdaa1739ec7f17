// Package docs runs the sessions in the documentation: what stands in a block ```console is typed into a shell in the order of the
// page, and must print what the page says. A line "..." in the page stands for any lines, and … within a line for any text. It
// holds tests only. Start reading at TestPages.
package docs
