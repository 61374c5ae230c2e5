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
  name: "AppCheck",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaAppCheckService", targets: ["VestaAppCheckService"]),
    .library(name: "VestaAppCheckEndpoints", targets: ["VestaAppCheckEndpoints"]),
    .library(name: "VestaAppCheckRemote", targets: ["VestaAppCheckRemote"]),
    .library(name: "VestaAppCheckWire", targets: ["VestaAppCheckWire"]),
  ],
  dependencies: [
    .package(path: "../Core"),
    .package(path: "../../Interop/AppCheckBackend"),
    .package(path: "../../Interop/CryptoInterop"),
    .package(path: "../../Interop/EngineInterop"),
    .package(path: "../../Interop/ServiceInterop"),
    .package(path: "../../Interop/StoreInterop"),
    .package(path: "../../Interop/TransportInterop"),
  ],
  targets: [
    // The claims of tokens, which the engine writes and a remote backend verifies.
    .target(
      name: "VestaAppCheckTokens",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaAppCheckService",
      dependencies: [
        "VestaAppCheckTokens",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaAppCheckBackend", package: "AppCheckBackend"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaEngineInterop", package: "EngineInterop"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaAppCheckWire",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaAppCheckBackend", package: "AppCheckBackend"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaAppCheckEndpoints",
      dependencies: [
        "VestaAppCheckWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaAppCheckBackend", package: "AppCheckBackend"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaAppCheckRemote",
      dependencies: [
        "VestaAppCheckTokens",
        "VestaAppCheckWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaAppCheckBackend", package: "AppCheckBackend"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaAppCheckTests",
      dependencies: [
        "VestaAppCheckEndpoints",
        "VestaAppCheckRemote",
        "VestaAppCheckService",
        "VestaAppCheckTokens",
        "VestaAppCheckWire",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaAppCheckBackend", package: "AppCheckBackend"),
        .product(name: "VestaCryptoInterop", package: "CryptoInterop"),
        .product(name: "VestaCryptoInteropFakes", package: "CryptoInterop"),
        .product(name: "VestaServiceInterop", package: "ServiceInterop"),
        .product(name: "VestaServiceInteropFakes", package: "ServiceInterop"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaTransportInterop", package: "TransportInterop"),
        .product(name: "VestaTransportInteropFakes", package: "TransportInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
