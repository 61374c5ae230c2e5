import VestaCore

/// The log of the guards.
let log = Logger(service: "VestaRulesGuards")
