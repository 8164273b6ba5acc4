// Debian's libyaml (package libyaml-dev), linked statically so that bletool runs where it is not installed.
#include <yaml.h>
