// swift-tools-version: 6.2
import PackageDescription

// The settings every Vesta target is built with; `make check` keeps them alike in all manifests.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "Functions",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaFunctions", targets: ["VestaFunctions"]),
    .library(name: "VestaFunctionsService", targets: ["VestaFunctionsService"]),
    .library(name: "VestaFunctionsEndpoints", targets: ["VestaFunctionsEndpoints"]),
    .library(name: "VestaFunctionsRemote", targets: ["VestaFunctionsRemote"]),
    .library(name: "VestaFunctionsWire", targets: ["VestaFunctionsWire"]),
  ],
  dependencies: [
    .package(path: "../Core"),
    .package(path: "../../Interop/AppCheckInterop"),
    .package(path: "../../Interop/AuthInterop"),
    .package(path: "../../Interop/EngineInterop"),
    .package(path: "../../Interop/EventsInterop"),
    .package(path: "../../Interop/FunctionsBackend"),
    .package(path: "../../Interop/MessagingInterop"),
    .package(path: "../../Interop/ServiceInterop"),
    .package(path: "../../Interop/StoreInterop"),
    .package(path: "../../Interop/TransportInterop"),
  ],
  targets: [
    .target(
      name: "VestaFunctionsValues",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaDataCoding", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaFunctions",
      dependencies: [
        "VestaFunctionsValues",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaDataCoding", package: "Core"),
        .product(name: "VestaAppCheckInterop", package: "AppCheckInterop"),
        .product(name: "VestaAuthInterop", package: "AuthInterop"),
        .product(name: "VestaFunctionsBackend", package: "FunctionsBackend"),
        .product(name: "VestaMessagingInterop", package: "MessagingInterop"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaFunctionsService",
      dependencies: [
        "VestaFunctionsValues",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaDataCoding", package: "Core"),
        .product(name: "VestaEngineInterop", package: "EngineInterop"),
        .product(name: "VestaEventsInterop", package: "EventsInterop"),
        .product(name: "VestaFunctionsBackend", package: "FunctionsBackend"),
        .product(name: "VestaHTTPFunctionsBackend", package: "FunctionsBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaFiles", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaFunctionsEndpoints",
      dependencies: [
        "VestaFunctionsWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaFunctionsBackend", package: "FunctionsBackend"),
        .product(name: "VestaHTTPFunctionsBackend", package: "FunctionsBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaEventsInterop", package: "EventsInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaFunctionsRemote",
      dependencies: [
        "VestaFunctionsWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaFunctionsBackend", package: "FunctionsBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaFunctionsRemoteTests",
      dependencies: [
        "VestaFunctionsEndpoints", "VestaFunctionsRemote", "VestaFunctionsService", "VestaFunctionsWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaEventsInterop", package: "EventsInterop"),
        .product(name: "VestaFunctionsBackend", package: "FunctionsBackend"),
        .product(name: "VestaFunctionsBackendContracts", package: "FunctionsBackend"),
        .product(name: "VestaHTTPFunctionsBackend", package: "FunctionsBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaFunctionsValuesTests",
      dependencies: [
        "VestaFunctionsValues",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaFunctionsTests",
      dependencies: [
        "VestaFunctions",
        "VestaFunctionsService",
        "VestaFunctionsValues",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaAppCheckInterop", package: "AppCheckInterop"),
        .product(name: "VestaAppCheckInteropFakes", package: "AppCheckInterop"),
        .product(name: "VestaAuthInterop", package: "AuthInterop"),
        .product(name: "VestaAuthInteropFakes", package: "AuthInterop"),
        .product(name: "VestaFunctionsBackend", package: "FunctionsBackend"),
        .product(name: "VestaFunctionsBackendFakes", package: "FunctionsBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaFunctionsServiceTests",
      dependencies: [
        "VestaFunctionsService",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaEventsInterop", package: "EventsInterop"),
        .product(name: "VestaEventsInteropFakes", package: "EventsInterop"),
        .product(name: "VestaFunctionsBackend", package: "FunctionsBackend"),
        .product(name: "VestaFunctionsBackendContracts", package: "FunctionsBackend"),
        .product(name: "VestaHTTPFunctionsBackend", package: "FunctionsBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaFunctionsWire",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaFunctionsBackend", package: "FunctionsBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaFunctionsWireTests",
      dependencies: [
        "VestaFunctionsWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaFunctionsBackend", package: "FunctionsBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
