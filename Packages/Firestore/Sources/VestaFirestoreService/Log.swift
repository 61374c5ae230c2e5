import VestaCore

/// The log of the engine.
let log = Logger(service: "VestaFirestoreService")
