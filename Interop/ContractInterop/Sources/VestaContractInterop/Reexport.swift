// Contracts live in VestaTesting; this module goes when nobody imports it any more.
@_exported public import VestaTesting
